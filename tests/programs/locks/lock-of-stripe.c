// Several elements share a lock: the index of an element determines that of its lock.
// expect: races=true
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t lock[4];
int x[8];
void *worker(void *unused) {
  int i = __VERIFIER_nondet_int();
  if (i < 0 || i > 6)
    return 0;
  pthread_mutex_lock(&lock[i % 4]);
  x[i]++;
  pthread_mutex_unlock(&lock[i % 4]);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
