// Two objects that point to each other, and a variable points to one of them.
// expect: memtrack=true memcleanup=false
#include <stdlib.h>
struct node {
  struct node *other;
};
struct node *kept;
int main(void) {
  struct node *one = malloc(sizeof *one); //~ ERROR
  struct node *two = malloc(sizeof *two);
  one->other = two;
  two->other = one;
  kept = one;
  return 0;
}
