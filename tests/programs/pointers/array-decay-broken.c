// The callee changes the array of the caller.
// expect: assertions=false races=true
#include <assert.h>
static void fill(int v[], int n) {
  for (int i = 0; i < n; i++)
    v[i] = 7;
}
int main(void) {
  int v[3] = {0};
  fill(v + 1, 2);
  assert(v[1] == 0); //~ ERROR
  assert(v[0] == 0 && v[2] == 7 && 1[v] == 7);
  return 0;
}
