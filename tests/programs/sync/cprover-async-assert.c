// A thread started by __CPROVER_ASYNC_1 sees the flag set before its start.
// expect: assertions=true races=true
#include <stdatomic.h>
extern void __CPROVER_assert(_Bool, const char *);
atomic_int flag;
void f(void) {
  int r = flag;
  __CPROVER_assert(r == 1, "flag is set");
}
int main(void) {
  flag = 1;
__CPROVER_ASYNC_1: f();
  flag = 1;
  return 0;
}
