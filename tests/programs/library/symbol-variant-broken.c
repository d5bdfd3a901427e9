// A function of the library whose symbol is a variant of its name, as on some systems.
// expect: races=false
#include <pthread.h>
#include <stddef.h>

extern void *memset(void *, int, size_t) __asm__("_memset$UNIX2003");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char shared[4];

static void *worker(void *argument) {
  memset(shared, 1, 4); //~ RACE
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  pthread_mutex_lock(&lock);
  memset(shared, 2, 4); //~ RACE
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
