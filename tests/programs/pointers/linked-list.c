// A list of three heap nodes is built and summed.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
static struct node *push(struct node *head, int value) {
  struct node *n = malloc(sizeof *n);
  if (!n)
    exit(1);
  n->value = value;
  n->next = head;
  return n;
}
int main(void) {
  struct node *head = NULL, *p;
  int sum = 0;
  for (int i = 1; i <= 3; i++)
    head = push(head, i);
  for (p = head; p; p = p->next)
    sum += p->value;
  assert(sum == 6);
  assert(head->value == 3);
  assert(head->next->next->next == NULL);
  while (head) {
    p = head->next;
    free(head);
    head = p;
  }
  return 0;
}
