// Under a lock nobody sees the middle of a copy.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <string.h>
struct large {
  int cell[12];
};
static struct large shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *writer(void *unused) {
  struct large one;
  for (int i = 0; i < 12; i++)
    one.cell[i] = 1;
  pthread_mutex_lock(&lock);
  shared = one;
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  pthread_mutex_lock(&lock);
  int first = shared.cell[0];
  int last = shared.cell[11];
  pthread_mutex_unlock(&lock);
  assert(first == last);
  pthread_join(thread, 0);
  return 0;
}
