// Boppo (paper 3), Figure 5: a call replaced by thread creation, with one synchronisation variable per depth; the caller waits for the callee.
// expect: assertions=true races=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
int psi[2], done;
static void finish(int depth) {
  __VERIFIER_atomic_begin();
  psi[depth] = 1;
  __VERIFIER_atomic_end();
}
static void await(int depth) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(psi[depth]);
  psi[depth] = 0;
  __VERIFIER_atomic_end();
}
void *inner(void *arg) {
  (void)arg;
  finish(1);
  return 0;
}
void *outer(void *arg) {
  pthread_t t;
  (void)arg;
  pthread_create(&t, 0, inner, 0);
  await(1);
  done = 1;
  finish(0);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, outer, 0);
  await(0);
  int r = done;
  assert(r == 1);
  return 0;
}
