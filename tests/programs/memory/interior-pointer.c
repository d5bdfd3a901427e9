// A pointer into the middle of the memory leads to it.
// expect: memtrack=true memcleanup=false
#include <stdlib.h>
struct record {
  int number;
  int link;
};
int *kept;
int main(void) {
  struct record *r = malloc(sizeof *r); //~ ERROR
  kept = &r->link;
  return 0;
}
