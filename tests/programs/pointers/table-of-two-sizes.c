// A shared pointer to the first element of one of two arrays, used up to the size of the smaller one.
// expect: assertions=true races=true bounds=true
#include <assert.h>
#include <limits.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int small[4], large[8];
int *table = small;
void *change(void *arg) {
  pthread_mutex_lock(&m);
  table = __VERIFIER_nondet_bool() ? small : large;
  pthread_mutex_unlock(&m);
  return arg;
}
void *use(void *arg) {
  pthread_mutex_lock(&m);
  for (int i = 0; i < 4; i++)
    table[i] = i;
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
