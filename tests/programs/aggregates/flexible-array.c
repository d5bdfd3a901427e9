// A struct with a flexible array member on the heap.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
struct vec { int n; int data[]; };
int main(void) {
  struct vec *v = malloc(sizeof *v + 3 * sizeof(int));
  if (!v)
    return 1;
  v->n = 3;
  for (int i = 0; i < v->n; i++)
    v->data[i] = i + 1;
  assert(v->data[2] == 3);
  assert(v->n == 3);
  free(v);
  return 0;
}
