// An array argument is passed as a pointer to its first element.
// expect: assertions=true races=true
#include <assert.h>
static void fill(int v[], int n) {
  for (int i = 0; i < n; i++)
    v[i] = 7;
}
int main(void) {
  int v[3] = {0};
  fill(v + 1, 2);
  assert(v[1] == 7);
  assert(v[0] == 0 && v[2] == 7 && 1[v] == 7);
  return 0;
}
