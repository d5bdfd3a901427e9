// The switch jumps past the declaration: what the last iteration left there is gone.
// expect: assertions=false races=true
#include <assert.h>
int main(void) {
  for (int i = 0; i < 2; i++)
    switch (i) {
      int a, *p;
    case 0:
      p = &a;
      *p = 3;
      break;
    case 1:
      p = &a;
      assert(*p == 3); //~ ERROR
    }
  return 0;
}
