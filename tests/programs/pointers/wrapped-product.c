// The same with an index: what it is multiplied by is without bounds, so that the members differ.
// expect: races=true
#include <pthread.h>
extern unsigned long __VERIFIER_nondet_ulong(void);
struct s {
  int a, b, c;
} elements[4];
void *move(void *argument) {
  unsigned long number = __VERIFIER_nondet_ulong();
  if (number < 4) elements[number].a = 1;
  return 0;
}
void *change(void *argument) {
  elements[0].b = 2;
  return 0;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, move, 0);
  pthread_create(&other, 0, change, 0);
  return 0;
}
