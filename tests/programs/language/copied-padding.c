// A copy of a structure has the same bytes where there are no members, too.
// todo: assertions=true
#include <assert.h>
#include <string.h>
struct padded {
  char first;
  int second;
};
int main(void) {
  struct padded one = {1, 2}, other;
  memcpy(&other, &one, sizeof other);
  assert(memcmp(&one, &other, sizeof one) == 0);
  return 0;
}
