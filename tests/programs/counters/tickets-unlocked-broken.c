// The index is read in one step and increased in another one.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int data[100], next;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  int mine;
  __atomic_load(&next, &mine, 5);
  __atomic_fetch_add(&next, 1, 5);
  data[mine] = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, f, 0);
  return 0;
}
