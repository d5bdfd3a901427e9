// expect: assertions=true
#include <assert.h>
#include <stdlib.h>
int main(void) {
  char *one = getenv("N"), *other = getenv("N\0M");
  assert(!one == !other);
  return 0;
}
