// Any number of threads increments a counter under a mutex.
// expect: assertions=true races=true
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
unsigned counter;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  counter++;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  while (__VERIFIER_nondet_bool()) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
  }
  return 0;
}
