// A union holds the member written last.
// expect: assertions=true races=true
#include <assert.h>
struct value { int is_int; union { int i; char c; } u; };
static int get(struct value v) { return v.is_int ? v.u.i : v.u.c + 1000; }
int main(void) {
  struct value a, b;
  a.is_int = 1; a.u.i = 42;
  b.is_int = 0; b.u.c = 7;
  assert(get(a) == 42);
  assert(get(b) == 1007);
  return 0;
}
