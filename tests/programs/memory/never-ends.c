// A thread that never ends gives back all that it allocates.
// expect: deref=true free=true memtrack=true
// args: --engine owned
#include <stdlib.h>
int main(void) {
  for (;;) {
    int *mine = malloc(sizeof *mine);
    *mine = 1;
    free(mine);
  }
}
