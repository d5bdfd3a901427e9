// The memory that `realpath` allocates belongs to the program.
// expect: memtrack=false memcleanup=false
#include <stdlib.h>
int main(void) {
  char *path = realpath("/", NULL); //~ ERROR
  return path != NULL;
}
