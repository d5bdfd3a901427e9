// The pointer into the middle is overwritten.
// expect: memtrack=false memcleanup=false
#include <stdlib.h>
struct record {
  int number;
  int link;
};
int *kept;
int main(void) {
  struct record *r = malloc(sizeof *r); //~ ERROR
  kept = &r->link;
  kept = 0;
  return 0;
}
