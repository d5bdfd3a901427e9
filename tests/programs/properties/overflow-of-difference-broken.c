// The second one starts elsewhere.
// expect: assertions=true races=true overflow=false
#include <assert.h>
#include <limits.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int front, back = INT_MIN;
void *lead(void *arg) {
  pthread_mutex_lock(&m);
  if (front < INT_MAX && front - back < 3) //~ ERROR
    front++;
  pthread_mutex_unlock(&m);
  return arg;
}
void *follow(void *arg) {
  pthread_mutex_lock(&m);
  if (back < front)
    back++;
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, lead, 0);
    pthread_create(&t, 0, follow, 0);
  }
  return 0;
}
