// A token goes round three kinds of threads.
// expect: races=true
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x, token;
void *first(void *arg) {
  (void)arg;
  int has;
  __VERIFIER_atomic_begin();
  has = token == 0;
  if (has)
    token = token + 3;
  __VERIFIER_atomic_end();
  if (has) {
    x = x + 1;
    __VERIFIER_atomic_begin();
    token = 1;
    __VERIFIER_atomic_end();
  }
  return 0;
}
void *second(void *arg) {
  (void)arg;
  int has;
  __VERIFIER_atomic_begin();
  has = token == 1;
  if (has)
    token = token + 3;
  __VERIFIER_atomic_end();
  if (has) {
    x = x + 1;
    __VERIFIER_atomic_begin();
    token = 2;
    __VERIFIER_atomic_end();
  }
  return 0;
}
void *third(void *arg) {
  (void)arg;
  int has;
  __VERIFIER_atomic_begin();
  has = token == 2;
  if (has)
    token = token + 3;
  __VERIFIER_atomic_end();
  if (has) {
    x = x + 1;
    __VERIFIER_atomic_begin();
    token = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, first, 0);
    pthread_create(&t, 0, second, 0);
    pthread_create(&t, 0, third, 0);
  }
  return 0;
}
