// A child process writes to memory that it shares with its parent. Processes are not followed, so nothing is proved.
// todo: assertions=false
#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  int *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (fork() == 0) {
    *shared = 5;
    return 0;
  }
  assert(*shared == 0);
  return 0;
}
