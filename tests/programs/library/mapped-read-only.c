// Memory that is mapped to be read, and is only read.
// expect: assertions=true bounds=true
#include <assert.h>
#include <sys/mman.h>
int main(void) {
  char *text = mmap(0, 4096, PROT_READ, MAP_PRIVATE, 3, 0);
  char own[2] = {1, 2};
  own[0] = text[0];
  assert(own[1] == 2);
  return 0;
}
