// Both ends of a range are set together; it is never empty.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int low, high;
void *set(void *arg) {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  if (a > b)
    return arg;
  pthread_mutex_lock(&m);
  low = a;
  high = b;
  pthread_mutex_unlock(&m);
  return arg;
}
void *look(void *arg) {
  pthread_mutex_lock(&m);
  int l = low, h = high;
  pthread_mutex_unlock(&m);
  assert(l <= h);
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, set, 0);
    pthread_create(&t, 0, look, 0);
  }
  return 0;
}
