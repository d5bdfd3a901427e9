// A pragma between declarations keeps its place, whatever comes before it.
// expect: assertions=true
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
  assert(sizeof(struct packed) == 5 && sizeof(struct plain) == 8 && sum(1) == 10);
  return 0;
}
