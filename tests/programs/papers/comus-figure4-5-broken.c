// CoMuS (paper 5), Figures 4.5 and 4.6: with the initial env_move two of the new assertions fail.
// expect: assertions=false races=true
#include <assert.h>
#include <stdbool.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
bool claim0, claim1, cs1;
int turn;
static void env_move(void) {
  claim1 = __VERIFIER_nondet_bool();
  turn = __VERIFIER_nondet_int();
  cs1 = __VERIFIER_nondet_bool();
}
int main(void) {
  assert(!cs1 || claim1);
  env_move();
  claim0 = true;
  assert(!cs1 || claim1); //~ ERROR
  env_move();
  turn = 1;
  assert(!cs1 || (claim1 && turn != 0)); //~ ERROR
  return 0;
}
