// With a statement for each of them, there is one order of two atomic loads.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
static _Atomic int first, second;
static void *writer(void *unused) {
  first = 1;
  second = 1;
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  int late = second;
  int early = first;
  assert(late - early <= 0);
  pthread_join(thread, 0);
  return 0;
}
