// What is weak and not defined is null; a weak definition counts if there is no other one; an alias is another name.
// expect: assertions=true races=true bounds=true
#include <assert.h>
extern int missing(void) __attribute__((weak));
extern int absent __attribute__((weak));
int __attribute__((weak)) given(void) { return 3; }
static int real(int x) { return x + 1; }
int other(int x) __attribute__((alias("real")));
int (*table[2])(void) = {missing, given};
int main(void) {
  assert(!missing && &absent == 0);
  assert(given() == 3);
  assert(other(4) == 5 && table[0] == 0 && table[1]() == 3);
  if (missing)
    return missing();
  return 0;
}
