// A copy of a negative number of bytes to a local variable is undefined: executions end there, others race.
// expect: races=false
#include <pthread.h>
#include <string.h>
int x;
char from[8] = "abcdefg";
void *worker(void *a) {
  x = 1; //~ RACE
  return 0;
}
int __VERIFIER_nondet_int(void);
int main(void) {
  pthread_t t;
  char to[8];
  int count = __VERIFIER_nondet_int();
  memcpy(to, from, count);
  pthread_create(&t, 0, worker, 0);
  x = 2; //~ RACE
  pthread_join(t, 0);
  return 0;
}
