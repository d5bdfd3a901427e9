// Not every input begins with a number.
// expect: assertions=false
// not reproduced: the standard input of the compiled program is not that of the execution
#include <assert.h>
#include <stdio.h>
int main(void) {
  int number;
  int read = scanf("%d", &number);
  assert(read == 1 || read == EOF); //~ ERROR
  return 0;
}
