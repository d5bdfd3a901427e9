// A callback gets its context through a void pointer.
// expect: assertions=true races=true
#include <assert.h>
typedef void (*visit)(int, void *);
static void each(const int *v, int n, visit f, void *ctx) {
  for (int i = 0; i < n; i++)
    f(v[i], ctx);
}
static void sum(int x, void *ctx) { *(int *)ctx += x; }
static void count(int x, void *ctx) { (void)x; ++*(int *)ctx; }
int main(void) {
  int v[3] = {1, 2, 4}, s = 0, n = 0;
  each(v, 3, sum, &s);
  each(v, 3, count, &n);
  assert(s == 7);
  assert(n == 3);
  return 0;
}
