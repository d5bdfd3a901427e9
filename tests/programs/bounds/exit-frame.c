// A thread gives back the address of a local of the one that waits.
// expect: bounds=true
#include <pthread.h>
static void *work(void *p) { *(int *)p = 1; pthread_exit(p); }
int main(void) {
  int x = 0;
  void *r;
  pthread_t t;
  pthread_create(&t, 0, work, &x);
  pthread_join(t, &r);
  return *(int *)r;
}
