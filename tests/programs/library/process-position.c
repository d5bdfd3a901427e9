// todo: assertions=true
// The arguments decide.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  off_t at = lseek(0, 5, SEEK_SET); assert(at == 5 || at == -1);
  return 0;
}
