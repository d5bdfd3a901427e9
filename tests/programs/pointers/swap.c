// Swapping two variables through pointers.
// expect: assertions=true races=true
#include <assert.h>
static void swap(int *a, int *b) {
  int t = *a;
  *a = *b;
  *b = t;
}
int main(void) {
  int x = 1, y = 2;
  swap(&x, &y);
  assert(x == 2 && y == 1);
  return 0;
}
