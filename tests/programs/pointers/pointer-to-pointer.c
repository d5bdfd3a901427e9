// A pointer to a pointer redirects it.
// expect: assertions=true races=true
#include <assert.h>
static void redirect(int **pp, int *to) { *pp = to; }
int main(void) {
  int a = 1, b = 2, *p = &a;
  int **pp = &p;
  **pp = 10;
  redirect(pp, &b);
  *p = 20;
  assert(a == 10);
  assert(b == 20 && p == &b);
  return 0;
}
