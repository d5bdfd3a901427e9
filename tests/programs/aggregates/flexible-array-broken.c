// The last element of the flexible array is written by the loop.
// expect: assertions=false races=true
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
  assert(v->data[2] == 2); //~ ERROR
  assert(v->n == 3);
  free(v);
  return 0;
}
