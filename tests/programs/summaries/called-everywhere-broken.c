// A procedure is called before and after a start. When it is called first, it starts a thread that starts the last one, too.
// expect: races=false
#include <pthread.h>

static int data, calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *last(void *unused) {
  data = data + 1; //~ RACE
  return 0;
}

static void *first(void *unused) {
  pthread_t id;
  pthread_create(&id, 0, last, 0);
  return 0;
}

static void count(void) {
  pthread_mutex_lock(&lock);
  int is_first = calls++ == 0;
  pthread_mutex_unlock(&lock);
  if (is_first) {
    pthread_t id;
    pthread_create(&id, 0, first, 0);
  }
}

int main(void) {
  pthread_t id;
  count();
  data = 1; //~ RACE
  pthread_create(&id, 0, last, 0);
  count();
  return 0;
}
