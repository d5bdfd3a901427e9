// Two bytes for each index, and a lock.
// expect: races=true
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t lock[8];
char x[16];
void *worker(void *unused) {
  int i = __VERIFIER_nondet_int();
  if (i < 0 || i > 6)
    return 0;
  pthread_mutex_lock(&lock[i]);
  *(short *)(x + 2 * i) = 1;
  pthread_mutex_unlock(&lock[i]);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
