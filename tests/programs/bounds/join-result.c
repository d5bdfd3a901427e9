// The result of a thread is stored in a pointer.
// expect: bounds=true
#include <pthread.h>
static void *work(void *p) { return 0; }
int main(void) {
  pthread_t t;
  void *r;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, &r);
  return r != 0;
}
