// The parent continues while one is left.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int running, data;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, d = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
void *f(void *arg) {
  pthread_mutex_lock(&d);
  data = 1; //~ RACE
  pthread_mutex_unlock(&d);
  pthread_mutex_lock(&m);
  running--;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  int n = __VERIFIER_nondet_int();
  for (int i = 0; i < n; i++) {
    pthread_mutex_lock(&m);
    running++;
    pthread_mutex_unlock(&m);
    pthread_create(&t, 0, f, 0);
  }
  pthread_mutex_lock(&m);
  while (running > 1) pthread_cond_wait(&changed, &m);
  pthread_mutex_unlock(&m);
  data = 2; //~ RACE
  return 0;
}
