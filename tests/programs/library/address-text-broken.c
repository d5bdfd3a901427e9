// Which text an address has depends on its bytes.
// expect: assertions=false
#include <arpa/inet.h>
#include <assert.h>
#include <sys/socket.h>
int main(void) {
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  if (getpeername(0, (struct sockaddr *)&address, &size) < 0 || size != sizeof address)
    return 1;
  const char *text = inet_ntoa(address.sin_addr);
  assert(text[0] >= '0' && text[0] <= '9');
  assert(text[0] != '7' || text[1] != '.'); //~ ERROR
  return 0;
}
