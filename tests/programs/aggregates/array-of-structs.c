// An array of structs indexed by a variable.
// expect: assertions=true races=true
#include <assert.h>
struct cell { int key; int value; };
static struct cell t[3];
int main(void) {
  for (int i = 0; i < 3; i++) {
    t[i].key = i;
    t[i].value = i * i;
  }
  assert(t[2].value == 4);
  assert(t[1].key == 1 && t[0].value == 0);
  return 0;
}
