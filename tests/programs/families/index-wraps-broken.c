// The index wraps around, so two threads have the same one.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int data[256];
void *f(void *arg) {
  data[(long)arg] = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  unsigned char i = 254;
  for (int k = 0; k < 257; k++) {
    if (k < 1 || k > 255) pthread_create(&t, 0, f, (void *)(long)i);
    i++;
  }
  return 0;
}
