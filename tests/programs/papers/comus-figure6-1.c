// CoMuS (paper 5), Figure 6.1 with the location L24 excluded from the query; the assertion holds.
// expect: races=true
// todo: assertions=true
#include <assert.h>
#include <stdbool.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
bool claim0, claim1, cs1, start;
int turn, pc_t1;
static void try_start(int pc_aux) {
  pc_t1 = pc_aux;
  if (!start) {
    claim0 = __VERIFIER_nondet_bool();
    turn = __VERIFIER_nondet_int();
    if (__VERIFIER_nondet_bool()) {
      start = true;
      __VERIFIER_assume(!cs1);
      __VERIFIER_assume(claim0);
      __VERIFIER_assume(!claim1 || turn == 0);
      __VERIFIER_assume(pc_aux != 24);
    }
  }
}
int main(void) {
  try_start(19);
  while (true) {
    claim1 = true;
    try_start(21);
    turn = 0;
    try_start(22);
    while (claim0 && turn != 1) {
      try_start(23);
    }
    try_start(24);
    cs1 = true;
    try_start(26);
    assert(!start || !cs1);
    cs1 = false;
    try_start(27);
    claim1 = false;
    try_start(28);
  }
}
