// A thread started by __CPROVER_ASYNC_1 may see the flag before main sets it.
// expect: assertions=false races=true
#include <stdatomic.h>
extern void __CPROVER_assert(_Bool, const char *);
atomic_int flag;
void f(void) {
  int r = flag;
  __CPROVER_assert(r == 1, "flag is set"); //~ ERROR
}
int main(void) {
__CPROVER_ASYNC_1: f();
  flag = 1;
  return 0;
}
