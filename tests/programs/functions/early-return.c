// Early returns from nested loops and branches.
// expect: assertions=true races=true
#include <assert.h>
static int find(const int *v, int n, int x) {
  if (n <= 0)
    return -1;
  for (int i = 0; i < n; i++) {
    if (v[i] < 0)
      continue;
    if (v[i] == x)
      return i;
  }
  return -2;
}
int main(void) {
  int v[4] = {-5, 3, 8, 3};
  assert(find(v, 4, 3) == 1);
  assert(find(v, 0, 3) == -1 && find(v, 4, -5) == -2);
  return 0;
}
