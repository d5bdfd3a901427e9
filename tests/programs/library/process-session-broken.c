// expect: assertions=false
// The number of the session is positive.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  assert(setsid() <= 0); //~ ERROR
  return 0;
}
