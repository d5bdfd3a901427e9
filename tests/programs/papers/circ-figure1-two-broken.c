// CIRC (paper 1), Figure 1 with two threads, broken: state is released before x is written.
// expect: assertions=true races=false
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <pthread.h>
int x, state;
void *thread(void *arg) {
  int old;
  (void)arg;
  for (int round = 0; round < 2; round++) {
    __VERIFIER_atomic_begin();
    old = state;
    if (state == 0)
      state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      __VERIFIER_atomic_begin();
      state = 0;
      __VERIFIER_atomic_end();
      x = x + 1; //~ RACE
    }
  }
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, thread, 0);
  thread(0);
  pthread_join(t, 0);
  return 0;
}
