// CIRC (paper 1), Figure 1 as printed: there is no race on x, but the plain write of state races with the atomic block of another thread.
// expect: assertions=true races=false
// args: --engine horn
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
#include <pthread.h>
int x, state;
void *thread(void *arg) {
  int old;
  (void)arg;
  while (1) {
    __VERIFIER_atomic_begin();
    old = state; //~ RACE
    if (state == 0) //~ RACE
      state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      x = x + 1;
      state = 0; //~ RACE
    }
  }
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, thread, 0);
  thread(0);
}
