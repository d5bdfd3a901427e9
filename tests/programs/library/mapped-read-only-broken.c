// A write to memory that is mapped to be read ends the program: neither is the write proved, nor is the
// assertion after it refuted.
// todo: bounds=false assertions=true
#include <assert.h>
#include <sys/mman.h>
int main(void) {
  char *text = mmap(0, 4096, PROT_READ, MAP_PRIVATE, 3, 0);
  text[0] = 1;
  assert(0);
  return 0;
}
