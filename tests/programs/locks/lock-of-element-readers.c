// Each element has a lock for readers and writers.
// expect: races=true
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
pthread_rwlock_t lock[8];
int x[8];
void *worker(void *unused) {
  int i = __VERIFIER_nondet_int();
  if (i < 0 || i > 6)
    return 0;
  if (__VERIFIER_nondet_int()) {
    pthread_rwlock_wrlock(&lock[i]);
    x[i]++;
  } else {
    pthread_rwlock_rdlock(&lock[i]);
    __VERIFIER_assume(x[i] >= 0);
  }
  pthread_rwlock_unlock(&lock[i]);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
