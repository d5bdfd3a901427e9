// The loop writes the square, not the index.
// expect: assertions=false races=true
#include <assert.h>
struct cell { int key; int value; };
static struct cell t[3];
int main(void) {
  for (int i = 0; i < 3; i++) {
    t[i].key = i;
    t[i].value = i * i;
  }
  assert(t[2].value == 2); //~ ERROR
  assert(t[1].key == 1 && t[0].value == 0);
  return 0;
}
