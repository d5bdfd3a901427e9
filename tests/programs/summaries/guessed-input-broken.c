// As kept-beside-input.c, but the number is compared with the address of a variable that is shared, and then used as
// one: it may be equal. The race must not be missed.
// todo: races=false
#include <pthread.h>
long __VERIFIER_nondet_long(void);
int shared;

void *worker(void *argument) {
  long slots[4];
  slots[0] = __VERIFIER_nondet_long();
  if (slots[0] == (long)&shared)
    *(int *)slots[0] = 1; //~ RACE
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
