// With 32 bits, compilers prefer 8 for what is aligned to 4 in structures. That is not known: nothing is proved.
// todo: assertions=false
// args: --data-model ILP32
#include <assert.h>
int main(void) {
  assert(__alignof__(double) == 4); //~ ERROR
  return 0;
}
