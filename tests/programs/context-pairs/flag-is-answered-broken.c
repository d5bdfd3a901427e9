// Data is written again after the reader has answered, broken: the reader answers before it reads.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int data, full;
void *reader(void *arg) {
  (void)arg;
  int got = 0;
  __VERIFIER_atomic_begin();
  if (full == 1) {
    full = 0;
    got = 1;
  }
  __VERIFIER_atomic_end();
  if (got) {
    got = data; //~ RACE
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    int empty;
    pthread_create(&t, 0, reader, 0);
    __VERIFIER_atomic_begin();
    empty = full == 0;
    __VERIFIER_atomic_end();
    if (empty) {
      data = data + 1; //~ RACE
      __VERIFIER_atomic_begin();
      full = 1;
      __VERIFIER_atomic_end();
    }
  }
  return 0;
}
