// What is compared with the address of a member is a sum: the input itself is the address of another member.
// todo: races=false
#include <pthread.h>

extern unsigned long __VERIFIER_nondet_ulong(void);

struct { int first; int second; int third; } shared;

void *writer(void *argument) {
  unsigned long at = __VERIFIER_nondet_ulong();
  if (at + 8 == (unsigned long)&shared.third)
    *(int *)at = 1; //~ RACE
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  shared.first = 2; //~ RACE
  pthread_join(thread, 0);
  return 0;
}
