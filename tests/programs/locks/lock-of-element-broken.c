// The lock is that of the next element.
// expect: races=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t lock[8];
int x[8];
void *worker(void *unused) {
  int i = __VERIFIER_nondet_int();
  if (i < 0 || i > 6)
    return 0;
  pthread_mutex_lock(&lock[i]);
  x[i]++; //~ RACE
  x[i + 1]++; //~ RACE
  pthread_mutex_unlock(&lock[i]);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
