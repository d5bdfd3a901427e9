// The head of a list is freed, and the others are lost.
// expect: deref=true free=true memtrack=false memcleanup=false
#include <stdlib.h>
struct node {
  struct node *next;
};
struct node *head;
int main(void) {
  for (int i = 0; i < 3; i++) {
    struct node *node = malloc(sizeof *node); //~ ERROR
    node->next = head;
    head = node;
  }
  free(head);
  return 0;
}
