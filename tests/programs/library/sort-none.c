// No element, and no array: common libraries allow it.
// expect: bounds=true
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *left, const void *right) { return 0; }
int main(void) {
  qsort(0, 0, sizeof(int), compare);
  perror(0);
  return 0;
}
