// A thread that never ends loses what it allocates: the program does not end, but nothing is proved.
// todo: memtrack=false
#include <stdlib.h>
int main(void) {
  int *mine = malloc(sizeof *mine);
  *mine = 1;
  mine = 0;
  for (;;) {
  }
}
