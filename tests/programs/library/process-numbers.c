// expect: assertions=true
// args: --engine horn
// What POSIX says of the numbers of processes, files and errors.
#include <assert.h>
#include <fcntl.h>
#include <unistd.h>
int main(void) {
  pid_t self = getpid();
  assert(self > 0 && getpid() == self && getppid() >= 0);
  assert(sysconf(_SC_PAGESIZE) >= 1 && getpagesize() > 0);
  int copy = dup2(1, 5);
  assert(copy == 5 || copy == -1);
  int file = open("a", O_RDONLY);
  assert(file >= -1);
  char bytes[4];
  assert(getentropy(bytes, sizeof bytes) <= 0);
  assert(isatty(0) <= 1);
  return 0;
}
