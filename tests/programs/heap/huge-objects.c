// Objects that are larger than memory: only what is written is held.
// expect: assertions=true bounds=true
#include <assert.h>
#include <stdlib.h>
static char table[1 << 28];
int main(void) {
  char local[1 << 27];
  char *allocated = malloc(1UL << 40);
  table[1 << 27] = 1;
  local[5] = 2;
  allocated[1UL << 39] = 3;
  assert(table[1 << 27] + local[5] + allocated[1UL << 39] == 6 && table[7] == 0);
  free(allocated);
  return 0;
}
