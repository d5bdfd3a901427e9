// A null pointer is checked before it is used.
// expect: assertions=true races=true bounds=true
#include <stddef.h>
struct node { int value; struct node *next; };
static int second(struct node *n) {
  if (!n || !n->next)
    return -1;
  return n->next->value;
}
int main(void) {
  struct node b = {2, NULL}, a = {1, &b};
  return second(&a) + second(&b) == 1 ? 0 : 1;
}
