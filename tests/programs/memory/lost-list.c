// A list that is freed from its head on.
// expect: deref=true free=true memtrack=true memcleanup=true
#include <stdlib.h>
struct node {
  struct node *next;
};
int main(void) {
  struct node *head = 0;
  for (int i = 0; i < 3; i++) {
    struct node *node = malloc(sizeof *node);
    node->next = head;
    head = node;
  }
  while (head) {
    struct node *next = head->next;
    free(head);
    head = next;
  }
  return 0;
}
