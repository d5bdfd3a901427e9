// A loop under a lock up to a limit that other threads change under that lock.
// expect: assertions=true races=true bounds=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int limit;
int a[8];
void *change(void *arg) {
  int n = __VERIFIER_nondet_int();
  if (n < 0 || n > 8)
    return arg;
  pthread_mutex_lock(&m);
  limit = n;
  pthread_mutex_unlock(&m);
  return arg;
}
void *fill(void *arg) {
  int i;
  pthread_mutex_lock(&m);
  for (i = 0; i < limit; i++)
    a[i] = i;
  assert(i == limit);
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, change, 0);
    pthread_create(&t, 0, fill, 0);
  }
  return 0;
}
