// The memory was lost before `exit` is called.
// expect: memtrack=false memcleanup=false
#include <stdlib.h>
static void lose(void) {
  int *p = malloc(4); //~ ERROR
  *p = 1;
}
int main(void) {
  lose();
  exit(0);
}
