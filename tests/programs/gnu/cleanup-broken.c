// The function of a variable runs after the value of a return is evaluated, and also where the block is left early.
// expect: assertions=false
#include <assert.h>
static int runs;
static void count(int *unused) { runs++; }

static int leave(int early) {
  __attribute__((cleanup(count))) int variable = 0;
  if (early) return runs;
  return runs;
}

int main(void) {
  int before = leave(1);
  assert(before == 0);
  assert(runs == 0); //~ ERROR
  return 0;
}
