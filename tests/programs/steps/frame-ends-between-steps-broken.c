// The worker reads the local of `main` while `main` is still there; then `main` ends.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
pthread_t first;
void *worker(void *arg) {
  int v = *(int *)arg;
  pthread_join(first, 0);
  assert(v != 5); //~ ERROR
  return 0;
}
int main(void) {
  int x = 5;
  pthread_t t;
  first = pthread_self();
  pthread_create(&t, 0, worker, &x);
  pthread_exit(0);
}
