// expect: assertions=false
#include <assert.h>
#include <fcntl.h>
#include <unistd.h>
int main(void) {
  int file = open("a", O_RDONLY);
  assert(file >= 0); //~ ERROR
  return 0;
}
