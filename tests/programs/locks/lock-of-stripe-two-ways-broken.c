// Two threads choose the lock of an element in different ways.
// expect: races=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t lock[8];
int x[8];
void *worker(void *unused) {
  int i = __VERIFIER_nondet_int();
  if (i < 0 || i > 6)
    return 0;
  if (__VERIFIER_nondet_int()) {
    pthread_mutex_lock(&lock[i / 2]);
    x[i]++; //~ RACE
    pthread_mutex_unlock(&lock[i / 2]);
  } else {
    pthread_mutex_lock(&lock[i % 4]);
    x[i]++; //~ RACE
    pthread_mutex_unlock(&lock[i % 4]);
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
