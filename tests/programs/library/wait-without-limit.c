// expect: assertions=true
// Without a limit of time, `select` and `poll` wait until something happens.
#include <assert.h>
#include <poll.h>
#include <sys/select.h>

int main(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(3, &set);
  assert(select(4, &set, 0, 0, 0) != 0);
  struct pollfd entry = {0, POLLIN, 0};
  assert(poll(&entry, 1, -1) != 0);
  return 0;
}
