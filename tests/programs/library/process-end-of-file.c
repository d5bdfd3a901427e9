// todo: assertions=true
// The answer stays the same until something is read.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  assert(feof(stdin) == 0 || feof(stdin) != 0);
  return 0;
}
