// Two readers together, or one writer.
// expect: races=true
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int x, first, second, writing;
void *reader(void *arg) {
  (void)arg;
  int slot = 0, value;
  __VERIFIER_atomic_begin();
  if (!writing && !first) {
    first = 1;
    slot = 1;
  } else if (!writing && !second) {
    second = 1;
    slot = 2;
  }
  __VERIFIER_atomic_end();
  if (slot) {
    value = x;
    __VERIFIER_atomic_begin();
    if (slot == 1)
      first = 0;
    else
      second = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
void *writer(void *arg) {
  (void)arg;
  int in = 0;
  __VERIFIER_atomic_begin();
  if (!writing && !first && !second) {
    writing = 1;
    in = 1;
  }
  __VERIFIER_atomic_end();
  if (in) {
    x = 1;
    __VERIFIER_atomic_begin();
    writing = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    if (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, reader, 0);
    else
      pthread_create(&t, 0, writer, 0);
  }
  return 0;
}
