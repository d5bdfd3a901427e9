// An index in memory of the thread's own that was never set may be any.
// expect: races=false
#include <pthread.h>
int a[4];
void *f(void *arg) {
  (void)arg;
  a[3] = 2; //~ RACE
  return 0;
}
int main(void) {
  unsigned char bytes[2];
  int one = 1;
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  a[bytes[one] & 3] = 1; //~ RACE
  return 0;
}
