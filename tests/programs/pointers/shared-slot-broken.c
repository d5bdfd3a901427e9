// The lock is given back between the test and the use.
// expect: assertions=true races=true bounds=false
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
  int *seen = slot;
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  if (seen)
    *slot = 1; //~ ERROR
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
