// An address of the internet has one text.
// expect: assertions=true
#include <arpa/inet.h>
#include <assert.h>
#include <string.h>
int main(void) {
  struct in_addr address;
  char text[INET_ADDRSTRLEN];
  address.s_addr = htonl(0x7f000001);
  assert(strcmp(inet_ntoa(address), "127.0.0.1") == 0);
  address.s_addr = htonl(0xc0a80a64);
  assert(inet_ntop(AF_INET, &address, text, sizeof text) == text);
  assert(strcmp(text, "192.168.10.100") == 0);
  return 0;
}
