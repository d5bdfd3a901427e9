// The null pointer is used without a check.
// expect: assertions=true races=true bounds=false
#include <stddef.h>
struct node { int value; struct node *next; };
static int second(struct node *n) {
  return n->next->value; //~ ERROR
}
int main(void) {
  struct node b = {2, NULL}, a = {1, &b};
  return second(&a) + second(&b) == 1 ? 0 : 1;
}
