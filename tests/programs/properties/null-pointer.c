// The pointer is set before it is dereferenced.
// expect: assertions=true races=true bounds=true
#include <stddef.h>
int x;
int main(void) {
  int *p = NULL;
  p = &x;
  *p = 1;
  return 0;
}
