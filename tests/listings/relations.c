// A stack of variable height: pushed below the limit, popped above zero.
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int top, limit;
int stack[32];
void *push(void *arg) {
  pthread_mutex_lock(&m);
  if (top < limit) {
    stack[top] = 7;
    top++;
  }
  pthread_mutex_unlock(&m);
  return arg;
}
void *pop(void *arg) {
  pthread_mutex_lock(&m);
  if (top > 0) {
    top--;
    assert(top < limit);
    stack[top] = 0;
  }
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  limit = __VERIFIER_nondet_int();
  if (limit < 0 || limit > 32)
    return 0;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, push, 0);
    pthread_create(&t, 0, pop, 0);
  }
  return 0;
}
