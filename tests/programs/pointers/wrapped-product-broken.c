// An unsigned product that wraps around is no multiple of its factor: with the right number, both threads write
// the second member of the first element.
// todo: races=false
#include <pthread.h>
extern unsigned long __VERIFIER_nondet_ulong(void);
struct s {
  int a, b, c;
} elements[4];
void *move(void *argument) {
  unsigned long number = __VERIFIER_nondet_ulong();
  if (number * 12 < 48) *(int *)((char *)elements + number * 12) = 1;
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
