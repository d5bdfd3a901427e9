// A member of one of two structures is written through a pointer that is never null.
// expect: assertions=true races=true bounds=true
#include <assert.h>
#include <limits.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct pair { int first, second; } one, two;
struct pair *chosen = &one;
void *change(void *arg) {
  pthread_mutex_lock(&m);
  chosen = chosen == &one ? &two : &one;
  pthread_mutex_unlock(&m);
  return arg;
}
void *use(void *arg) {
  pthread_mutex_lock(&m);
  chosen->second = 1;
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
