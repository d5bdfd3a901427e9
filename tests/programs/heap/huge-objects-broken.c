// What is far apart in objects that are larger than memory is not the same.
// expect: assertions=false
#include <assert.h>
#include <stdlib.h>
static char table[1 << 28];
int main(void) {
  char local[1 << 27];
  char *allocated = malloc(1UL << 40);
  table[1 << 27] = 1;
  local[5] = 2;
  allocated[1UL << 39] = 3;
  assert(table[1 << 26] + local[5] + allocated[1UL << 39] == 6); //~ ERROR
  free(allocated);
  return 0;
}
