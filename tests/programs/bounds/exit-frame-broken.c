// A thread gives back the address of a local of its own.
// expect: bounds=false
#include <pthread.h>
static void *work(void *p) { { int x = 1; pthread_exit(&x); } }
int main(void) {
  void *r;
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, &r);
  return *(int *)r; //~ ERROR
}
