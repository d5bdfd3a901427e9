// A structure and an array that are declared again have any value until they are set (C11 6.2.4p6); here they are set.
// expect: assertions=true races=true
#include <assert.h>
struct pair {
  int x, y;
};
int main(void) {
  int kept[2] = {0, 0};
  for (int i = 0; i < 3; i++) {
    struct pair p;
    int a[2];
    p.x = i;
    p.y = 1;
    a[1] = 5;
    struct pair *q = &p;
    assert(q->x == i && q->y == 1 && a[1] == 5);
    kept[1]++;
    assert(kept[1] == i + 1);
  }
  return 0;
}
