// Between the end of a thread and the end of who waits for it, only its result leads to what it allocated.
// expect: memtrack=true
#include <pthread.h>
#include <stdlib.h>
static void *make(void *unused) {
  return malloc(3);
}
int main(void) {
  pthread_t t;
  void *made;
  pthread_create(&t, 0, make, 0);
  pthread_join(t, &made);
  free(made);
  return 0;
}
