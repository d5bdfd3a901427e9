// A structure after the pragma that ends packing is not packed.
// expect: assertions=false
#include <assert.h>
typedef int number;
static int sum(int x) {
  return (const number)x + (const number)x + (const number)x + (const number)x + (const number)x +
         (const number)x + (const number)x + (const number)x + (const number)x + (const number)x;
}
#pragma pack(push, 1)
struct packed { char character; int number; };
#pragma pack(pop)
struct plain { char character; int number; };
int main(void) {
  assert(sizeof(struct packed) == 8 || sizeof(struct plain) == 5 || sum(1) != 10); //~ ERROR
  return 0;
}
