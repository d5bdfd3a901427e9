// Anonymous structs and unions give their members to the enclosing struct.
// expect: assertions=true races=true
#include <assert.h>
struct node {
  int kind;
  union {
    struct { int lo, hi; };
    int words[2];
  };
};
int main(void) {
  struct node n = {.kind = 1, .lo = 5, .hi = 6};
  assert(n.kind == 1 && n.hi == 6);
  n.words[0] = 8;
  assert(n.lo == 8);
  return 0;
}
