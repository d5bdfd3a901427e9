// An index in memory of the thread's own that was set names one element.
// expect: races=true
#include <pthread.h>
int a[4];
void *f(void *arg) {
  (void)arg;
  a[3] = 2;
  return 0;
}
int main(void) {
  unsigned char bytes[2];
  int one = 1;
  bytes[0] = 0;
  bytes[1] = 2;
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  a[bytes[one] & 3] = 1;
  return 0;
}
