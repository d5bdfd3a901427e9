// Functions run when variables go out of scope, in the reverse order: at the end of a block, and for return, break and continue.
// expect: assertions=true
#include <assert.h>
static int trace;
static void note(int *number) { trace = trace * 10 + *number; }
#define noted __attribute__((cleanup(note)))

static int early(int leave) {
  noted int one = 1;
  if (leave) {
    noted int two = 2;
    return trace;
  }
  noted int three = 3;
  one = 4;
  return trace + 1;
}

static void loops(void) {
  noted int last = 9;
  for (int i = 0; i < 3; i++) {
    noted int inner = i + 1;
    if (i == 0) continue;
    switch (i) {
    case 1: {
      noted int deep = 7;
      break;
    }
    default:
      break;
    }
    if (i == 1) break;
  }
}

int main(void) {
  assert(early(1) == 0);
  assert(trace == 21);
  trace = 0;
  assert(early(0) == 1);
  assert(trace == 34);
  trace = 0;
  loops();
  assert(trace == 1729);
  return 0;
}
