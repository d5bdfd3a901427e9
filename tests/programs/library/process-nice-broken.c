// todo: assertions=false
// The new value may be positive.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  assert(nice(5) <= 0);
  return 0;
}
