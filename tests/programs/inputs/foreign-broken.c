// Where signals limit proofs, listings of large programs take a number from outside for none of the program's own
// addresses. In a small one like this it may be the address that it is compared with: the race must not be missed.
// todo: races=false
#include <pthread.h>
#include <signal.h>
long __VERIFIER_nondet_long(void);
int shared;
void stop(int number) {}

void *worker(void *argument) {
  long number = __VERIFIER_nondet_long();
  if (number == (long)&shared)
    *(int *)number = 1; //~ RACE
  return 0;
}

int main(void) {
  pthread_t one, two;
  signal(SIGINT, stop);
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
