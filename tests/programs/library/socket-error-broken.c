// Which error a socket has is an input.
// expect: assertions=false
#include <assert.h>
#include <sys/socket.h>
int main(void) {
  int error = -1;
  socklen_t size = sizeof error;
  if (getsockopt(3, SOL_SOCKET, SO_ERROR, &error, &size) == 0)
    assert(error == 0); //~ ERROR
  return 0;
}
