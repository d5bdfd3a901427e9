// One byte of a word is stored, not all of it.
// expect: assertions=false
#include <assert.h>
int main(void) {
  unsigned y = 0x01010101;
  __atomic_store_n((unsigned char *)&y, 0, __ATOMIC_SEQ_CST);
  assert(y == 0); //~ ERROR
  return 0;
}
