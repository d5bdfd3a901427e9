// An array in a structure that a call returns lives until the full expression ends (C11 6.2.4p8).
// expect: bounds=true assertions=true
#include <assert.h>
struct pair {
  int a[2];
};
static struct pair make(int x) {
  struct pair p = {{x, x + 1}};
  return p;
}
static int sum(const int *p) { return p[0] + p[1]; }
int main(void) {
  int i = 1, s = sum(make(3).a);
  assert(s == 7 && make(i).a[i] == 2);
  s = *(make(4).a + 1);
  assert(s == 5);
  return 0;
}
