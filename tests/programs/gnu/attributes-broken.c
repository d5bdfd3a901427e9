// Attributes do not change the result of the function.
// expect: assertions=false races=true
#include <assert.h>
static int __attribute__((noinline)) twice(int x __attribute__((unused))) __attribute__((const));
static int __attribute__((noinline)) twice(int x) { return 2 * x; }
struct __attribute__((packed)) s { char c; int i; };
static int counter __attribute__((aligned(16))) = 1;
__attribute__((unused)) static void never(void) { }
int main(void) {
  int y __attribute__((__unused__)) = 3;
  assert(sizeof(struct s) == 5);
  assert(twice(counter) == 1); //~ ERROR
  return 0;
}
