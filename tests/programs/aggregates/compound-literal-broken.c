// The compound literal is a fresh object.
// expect: assertions=false races=true
#include <assert.h>
struct point { int x, y; };
static int sum(const struct point *p) { return p->x + p->y; }
int main(void) {
  struct point p = (struct point){3, 4};
  assert(sum(&(struct point){.y = 5}) == 7); //~ ERROR
  assert(sum(&p) == 7);
  int *v = (int[]){1, 2, 3};
  v[0] = 10;
  assert(v[0] + v[2] == 13);
  return 0;
}
