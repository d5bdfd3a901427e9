// After redirection p no longer points to a.
// expect: assertions=false races=true
#include <assert.h>
static void redirect(int **pp, int *to) { *pp = to; }
int main(void) {
  int a = 1, b = 2, *p = &a;
  int **pp = &p;
  **pp = 10;
  redirect(pp, &b);
  *p = 20;
  assert(a == 20); //~ ERROR
  assert(b == 20 && p == &b);
  return 0;
}
