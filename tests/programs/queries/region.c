// Two numbers are changed in regions of one lock; whoever has it sees that they are the same.
// expect: assertions=true races=true
// args: --engine queries
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int first, second;
static void *up(void *unused) {
  for (;;) {
    pthread_mutex_lock(&m);
    if (first < 1000) {
      first = first + 1;
      second = second + 1;
    }
    pthread_mutex_unlock(&m);
  }
  return unused;
}
static void *down(void *unused) {
  for (;;) {
    pthread_mutex_lock(&m);
    assert(first == second);
    if (first > 0) {
      first = first - 1;
      second = second - 1;
    }
    pthread_mutex_unlock(&m);
  }
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, up, 0);
  pthread_create(&t, 0, down, 0);
  return 0;
}
