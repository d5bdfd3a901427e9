// expect: assertions=false
// Names of variables differ by bytes that are no text.
#include <assert.h>
#include <stdlib.h>
int main(void) {
  char *one = getenv("\xff"), *other = getenv("\xfe");
  assert(!one == !other); //~ ERROR
  return 0;
}
