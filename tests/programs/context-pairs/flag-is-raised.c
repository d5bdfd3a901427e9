// Data is read after a flag was seen.
// expect: races=true
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int data, ready;
void *reader(void *arg) {
  (void)arg;
  int seen;
  __VERIFIER_atomic_begin();
  seen = ready;
  __VERIFIER_atomic_end();
  if (seen)
    seen = data;
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, reader, 0);
  data = 1;
  __VERIFIER_atomic_begin();
  ready = 1;
  __VERIFIER_atomic_end();
  return 0;
}
