// An index may be one too large, so that it reaches the member after the array.
// expect: races=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
struct {
  int before;
  int data[8];
  int after;
} s;
void *neighbour(void *arg) {
  s.after++; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, neighbour, 0);
  int k = __VERIFIER_nondet_int();
  if (k >= 0 && k <= 8)
    s.data[k] = 0; //~ RACE
  return 0;
}
