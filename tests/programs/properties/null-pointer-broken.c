// A null pointer is dereferenced.
// expect: assertions=true races=true bounds=false
#include <stddef.h>
int x;
int main(void) {
  int *p = NULL;
  *p = 1; //~ ERROR
  return 0;
}
