// A jump out of the block of a variable with a cleanup function is not supported: nothing is proved, and nothing refuted.
// todo: assertions=true
#include <assert.h>
static int runs;
static void count(int *unused) { runs++; }

int main(void) {
  {
    __attribute__((cleanup(count))) int variable = 0;
    goto out;
  }
out:
  assert(runs == 1);
  return 0;
}
