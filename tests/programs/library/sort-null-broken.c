// One element that is not there, which nobody looks at.
// expect: bounds=false
#include <stdlib.h>
static int compare(const void *left, const void *right) { return 0; }
int main(void) {
  qsort(0, 1, sizeof(int), compare); //~ ERROR
  return 0;
}
