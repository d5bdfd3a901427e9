// One byte of a word is stored.
// expect: assertions=true
#include <assert.h>
int main(void) {
  unsigned y = 0x01010101;
  __atomic_store_n((unsigned char *)&y, 0, __ATOMIC_SEQ_CST);
  assert(y == 0x01010100);
  return 0;
}
