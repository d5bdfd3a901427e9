// CoMuS (paper 5), Figure 4.3: the sequential program of t0 with the initial env_move has a (spurious) violation.
// expect: assertions=false races=true
#include <assert.h>
#include <stdbool.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
bool claim0, claim1, cs0, cs1;
int turn;
static void env_move(void) {
  claim1 = __VERIFIER_nondet_bool();
  turn = __VERIFIER_nondet_int();
  cs1 = __VERIFIER_nondet_bool();
}
int main(void) {
  env_move();
  while (true) {
    claim0 = true;
    env_move();
    turn = 1;
    env_move();
    while (claim1 && turn != 0) {
      env_move();
    }
    env_move();
    cs0 = true;
    assert(!cs1); //~ ERROR
    env_move();
    cs0 = false;
    claim0 = false;
    env_move();
  }
}
