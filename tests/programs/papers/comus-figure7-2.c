// CoMuS (paper 5), Figure 7.2 with a refined env_move that bounds c by 3; the assertions hold.
// expect: races=true
// todo: assertions=true
#include <assert.h>
#include <stdbool.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
int a = 1, b = 1, c = 1, pc_t2, pc_t3;
bool start;
static void environment_move(void) {
  if (start) {
    c = __VERIFIER_nondet_int();
    pc_t3 = __VERIFIER_nondet_int();
    __VERIFIER_assume(c <= 3);
  }
}
static void try_start(int pc_aux) {
  pc_t2 = pc_aux;
  if (!start) {
    c = __VERIFIER_nondet_int();
    a = __VERIFIER_nondet_int();
    pc_t3 = __VERIFIER_nondet_int();
    if (__VERIFIER_nondet_bool()) {
      start = 1;
      __VERIFIER_assume(a == 1);
      __VERIFIER_assume(b == 1);
      __VERIFIER_assume(c == 1);
    }
  }
}
int main(void) {
  int k2 = 0;
  try_start(13);
  environment_move();
  assert(!start || (a + 2 * b <= 15));
  while (k2 < 2) {
    b += c;
    try_start(15);
    environment_move();
    assert(!start || (a + 2 * b <= 15));
    k2++;
  }
  return 0;
}
