// The lock is free between the two changes.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y;
void *step(void *arg) {
  pthread_mutex_lock(&m);
  x++;
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  y++;
  pthread_mutex_unlock(&m);
  return arg;
}
void *look(void *arg) {
  pthread_mutex_lock(&m);
  assert(x == y); //~ ERROR
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, step, 0);
    pthread_create(&t, 0, look, 0);
  }
  return 0;
}
