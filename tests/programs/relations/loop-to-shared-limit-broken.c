// The limit is read without the lock, so it may change meanwhile.
// expect: assertions=false races=false bounds=true
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
  limit = n; //~ RACE
  pthread_mutex_unlock(&m);
  return arg;
}
void *fill(void *arg) {
  int i;
  for (i = 0; i < limit; i++) //~ RACE
    ;
  assert(i == limit); //~ ERROR
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
