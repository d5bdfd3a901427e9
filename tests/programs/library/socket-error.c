// The error of a socket is 0 or the number of an error.
// expect: assertions=true
// args: --engine horn
#include <assert.h>
#include <sys/socket.h>
int main(void) {
  int error = -1;
  socklen_t size = sizeof error;
  if (getsockopt(3, SOL_SOCKET, SO_ERROR, &error, &size) == 0)
    assert(error >= 0 && size == sizeof error);
  return 0;
}
