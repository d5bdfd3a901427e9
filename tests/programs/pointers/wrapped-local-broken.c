// An unsigned product that wraps around is no multiple of its factor, also where a local holds it.
// expect: races=false
#include <pthread.h>
extern unsigned long __VERIFIER_nondet_ulong(void);
struct s {
  int a, b, c;
} elements[4];
void *move(void *argument) {
  unsigned long distance = __VERIFIER_nondet_ulong() * 12;
  if (distance < 48) {
    char *at = (char *)elements + distance;
    *(int *)at = 1; //~ RACE
  }
  return 0;
}
void *change(void *argument) {
  elements[0].a = 2; //~ RACE
  return 0;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, move, 0);
  pthread_create(&other, 0, change, 0);
  return 0;
}
