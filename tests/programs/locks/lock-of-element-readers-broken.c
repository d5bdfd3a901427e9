// Readers write.
// expect: races=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_rwlock_t lock[8];
int x[8];
void *worker(void *unused) {
  int i = __VERIFIER_nondet_int();
  if (i < 0 || i > 6)
    return 0;
  pthread_rwlock_rdlock(&lock[i]);
  x[i]++; //~ RACE
  pthread_rwlock_unlock(&lock[i]);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
