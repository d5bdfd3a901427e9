// A pointer in shared memory is one of two objects or null, and tested under the lock under which it is used.
// expect: assertions=true races=true bounds=true
#include <assert.h>
#include <limits.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int a, b;
int *slot = &a;
void *change(void *arg) {
  pthread_mutex_lock(&m);
  if (__VERIFIER_nondet_bool())
    slot = &b;
  else
    slot = 0;
  pthread_mutex_unlock(&m);
  return arg;
}
void *use(void *arg) {
  pthread_mutex_lock(&m);
  if (slot)
    *slot = 1;
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, change, 0);
    pthread_create(&t, 0, use, 0);
  }
  return 0;
}
