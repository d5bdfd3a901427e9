// The worker reads the local of `main` before `main` ends, and there is one value only.
// expect: assertions=true
#include <assert.h>
#include <pthread.h>
pthread_t first;
void *worker(void *arg) {
  int v = *(int *)arg;
  pthread_join(first, 0);
  assert(v == 5);
  return 0;
}
int main(void) {
  int x = 5;
  pthread_t t;
  first = pthread_self();
  pthread_create(&t, 0, worker, &x);
  pthread_exit(0);
}
