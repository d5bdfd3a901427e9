// A counter that only grows is never below a copy that was made of it before.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int counter;
void *grow(void *arg) {
  pthread_mutex_lock(&m);
  counter++;
  pthread_mutex_unlock(&m);
  return arg;
}
void *look(void *arg) {
  pthread_mutex_lock(&m);
  int before = counter;
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  assert(before <= counter);
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, grow, 0);
    pthread_create(&t, 0, look, 0);
  }
  return 0;
}
