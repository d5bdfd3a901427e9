// Two inputs may differ, and so may their copies.
// expect: assertions=false
#include <assert.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  char bytes[16], copies[2][16];
  for (int i = 0; i < 2; i++) {
    if (read(0, bytes, sizeof bytes) != sizeof bytes)
      return 0;
    memcpy(copies[i], bytes, sizeof bytes);
  }
  assert(copies[0][3] == copies[1][3]); //~ ERROR
  return 0;
}
