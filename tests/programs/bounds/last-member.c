// The last member of an allocated structure stands for more elements than it has.
// expect: bounds=true
#include <stdlib.h>
struct V { int n; int d[1]; };
int main(void) {
  struct V *v = malloc(sizeof *v + sizeof(int));
  v->n = 2;
  v->d[1] = 7;
  free(v);
  return 0;
}
