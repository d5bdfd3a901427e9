// The memory that `realpath` allocates is given back.
// todo: memtrack=true memcleanup=true
#include <stdlib.h>
int main(void) {
  char *path = realpath("/", NULL);
  free(path);
  return 0;
}
