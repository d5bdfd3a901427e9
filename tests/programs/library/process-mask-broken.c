// todo: assertions=false
// The mask before is not known.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  assert(umask(0) == 0);
  return 0;
}
