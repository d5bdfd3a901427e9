// `memrchr` gives the last byte, and `strchrnul` the final zero where there is none.
// expect: assertions=true bounds=true
#define _GNU_SOURCE
#include <assert.h>
#include <string.h>
int main(void) {
  char text[] = "a/b/c";
  assert(memrchr(text, '/', 5) == text + 3 && memrchr(text, '/', 3) == text + 1);
  assert(memrchr(text, 'x', 5) == 0 && memrchr(text, 'a', 0) == 0);
  assert(strchrnul(text, '/') == text + 1 && strchrnul(text, 'x') == text + 5);
  assert(strchrnul(text, 0) == text + 5);
  return 0;
}
