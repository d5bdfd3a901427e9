// Large elements are exchanged whole.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
struct entry {
  char name[300];
  int key, value;
};
static int order(const void *left, const void *right) {
  int one = ((const struct entry *)left)->key, other = ((const struct entry *)right)->key;
  return (one > other) - (one < other);
}
struct entry entries[2];
int main(void) {
  entries[0].key = 2;
  entries[0].value = 20;
  entries[1].key = 1;
  entries[1].value = 10;
  qsort(entries, 2, sizeof *entries, order);
  assert(entries[0].key == 1 && entries[0].value == 10 && entries[1].value == 20);
  return 0;
}
