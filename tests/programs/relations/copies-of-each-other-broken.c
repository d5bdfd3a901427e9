// The leader does not wait for the other.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int first, second;
void *lead(void *arg) {
  pthread_mutex_lock(&m);
  if (first >= second)
    first++;
  pthread_mutex_unlock(&m);
  return arg;
}
void *follow(void *arg) {
  pthread_mutex_lock(&m);
  second = first;
  pthread_mutex_unlock(&m);
  return arg;
}
void *look(void *arg) {
  pthread_mutex_lock(&m);
  assert(first - second <= 1); //~ ERROR
  assert(second <= first);
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, lead, 0);
    pthread_create(&t, 0, follow, 0);
    pthread_create(&t, 0, look, 0);
  }
  return 0;
}
