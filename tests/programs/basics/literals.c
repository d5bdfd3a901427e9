// Hexadecimal, octal, character and suffixed literals.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  assert(0x1F == 31);
  assert(010 == 8);
  assert('\n' == 10 && '\0' == 0 && '\x41' == 'A' && '\101' == 'A');
  assert(4294967295u + 1 == 0);
  assert(0xffffffff > 0);
  return 0;
}
