// Memory that may be written until that is forbidden.
// todo: bounds=false assertions=true
#include <assert.h>
#include <sys/mman.h>
int main(void) {
  char *text = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  text[0] = 1;
  if (mprotect(text, 4096, PROT_READ) == 0) {
    text[0] = 2;
    assert(0);
  }
  return 0;
}
