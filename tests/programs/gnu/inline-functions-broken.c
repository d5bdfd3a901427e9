// The inline function works on a copy of its argument.
// expect: assertions=false races=true
#include <assert.h>
static inline int inc(int x) { return ++x; }
static __inline int dec(int x) { return --x; }
static inline __attribute__((always_inline)) void set(int *p, int v) { *p = v; }
int main(void) {
  int a = 1;
  assert(inc(inc(a)) == 3);
  assert(a == 3); //~ ERROR
  set(&a, dec(a));
  assert(a == 0);
  return 0;
}
