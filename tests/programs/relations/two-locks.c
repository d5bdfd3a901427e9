// A pair is out of step between two sections of one lock, but not while the other lock is free: who holds that one sees it in step.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
int left, right;
void *change(void *arg) {
  int value = __VERIFIER_nondet_bool() ? 5 : 9;
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&inner);
  left = value;
  right = value - 3;
  pthread_mutex_unlock(&inner);
  pthread_mutex_lock(&inner);
  right = value;
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&outer);
  return arg;
}
void *look_inside(void *arg) {
  pthread_mutex_lock(&inner);
  int l = left, r = right;
  pthread_mutex_unlock(&inner);
  assert(r <= l);
  return arg;
}
void *look_outside(void *arg) {
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&inner);
  int l = left, r = right;
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&outer);
  assert(r == l);
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, change, 0);
    pthread_create(&t, 0, look_inside, 0);
    pthread_create(&t, 0, look_outside, 0);
  }
  return 0;
}
