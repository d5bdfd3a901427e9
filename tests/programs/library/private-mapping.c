// What a child process writes to private memory is not seen by its parent.
// expect: assertions=true
#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  int *own = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fork() == 0) {
    *own = 5;
    return 0;
  }
  assert(*own == 0);
  return 0;
}
