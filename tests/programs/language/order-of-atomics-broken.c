// Two atomic loads in one expression may be made in either order.
// expect: assertions=false races=true
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
  int difference = second - first;
  assert(difference <= 0); //~ ERROR
  pthread_join(thread, 0);
  return 0;
}
