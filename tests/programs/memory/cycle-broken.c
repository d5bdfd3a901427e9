// Two objects that point to each other only are lost.
// expect: memtrack=false memcleanup=false
#include <stdlib.h>
struct node {
  struct node *other;
};
int main(void) {
  struct node *one = malloc(sizeof *one); //~ ERROR
  struct node *two = malloc(sizeof *two);
  one->other = two;
  two->other = one;
  return 0;
}
