// Each thread takes two elements, and uses three.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int data[100], next;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  int mine;
  pthread_mutex_lock(&m);
  mine = next;
  next += 2;
  pthread_mutex_unlock(&m);
  data[mine + 2] = 1; //~ RACE
  data[mine] = 2; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) pthread_create(&t, 0, f, 0);
  return 0;
}
