// Distances within one object are the same wherever it is; so are addresses that are put together from their parts.
// expect: assertions=true
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
int row[8];
int main(void) {
  int *first = row + 1, *last = row + 6;
  long distance = last - first;
  assert(first < last && distance == 5);
  int *made = malloc(4 * sizeof *made), *end = made + 4;
  int sum = 0;
  for (int *p = made; p < end; p++)
    *p = 1;
  for (int *p = made; p < end; p++)
    sum += *p;
  assert(sum == 4);
  uintptr_t whole = (uintptr_t)row;
  uint32_t low = (uint32_t)whole, high = (uint32_t)(whole >> 32);
  int *again = (int *)(((uintptr_t)high << 32) | low);
  *again = 7;
  assert(row[0] == 7);
  free(made);
  return 0;
}
