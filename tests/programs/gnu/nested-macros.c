// Macros with do-while bodies, stringing and pasting.
// expect: assertions=true races=true
#include <assert.h>
#define SET(a, b, v) do { (a) = (v); (b) = (v); } while (0)
#define VAR(n) var_##n
int main(void) {
  int VAR(1) = 0, VAR(2) = 0;
  if (var_1)
    SET(var_1, var_2, 5);
  else
    SET(var_1, var_2, 6);
  assert(var_2 == 6);
  return 0;
}
