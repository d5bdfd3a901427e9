// What exactly is replaced is not followed here: there is no verdict, in particular no wrong one.
// todo: assertions=true
#include <assert.h>
struct pair { int first, second; };
union word { int number; char bytes[4]; };
int main(void) {
  struct pair all[4] = {[0 ... 3] = {1, 2}, [1] = {.first = 5}};
  union word word = {.number = -1, .bytes = {7}};
  assert(all[1].second == 0 && all[2].second == 2);
  assert(word.bytes[0] == 7 && word.bytes[3] == 0);
  return 0;
}
