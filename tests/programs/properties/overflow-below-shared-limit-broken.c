// It grows at the limit, too.
// expect: assertions=true races=true overflow=false
#include <assert.h>
#include <limits.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int counter = INT_MAX - 2, limit;
void *grow(void *arg) {
  pthread_mutex_lock(&m);
  if (counter <= limit)
    counter++; //~ ERROR
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  limit = __VERIFIER_nondet_bool() ? INT_MAX : 5;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, grow, 0);
  }
  return 0;
}
