// expect: assertions=false
// With a limit of time, nothing may have happened.
#include <assert.h>
#include <poll.h>
#include <sys/select.h>

int main(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(3, &set);
  assert(select(4, &set, 0, 0, 0) != 0);
  struct pollfd entry = {0, POLLIN, 0};
  assert(poll(&entry, 1, 0) != 0); //~ ERROR
  return 0;
}
