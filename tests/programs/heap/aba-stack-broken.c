// The classic ABA: a thread sleeps in the middle of a pop; meanwhile another one pops two nodes, frees the first, and
// pushes a new one that has its address. The exchange succeeds, and a node that was taken is on the stack again.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { struct node *next; int taken; };
_Atomic(struct node *) top;
struct node *second;
void *other(void *unused) {
  struct node *first = atomic_load(&top);
  struct node *expected = first;
  if (!atomic_compare_exchange_strong(&top, &expected, second)) return 0;
  expected = second;
  if (!atomic_compare_exchange_strong(&top, &expected, 0)) return 0;
  second->taken = 1;
  free(first);
  struct node *again = malloc(sizeof *again);
  again->next = 0;
  again->taken = 0;
  atomic_store(&top, again);
  return 0;
}
int main(void) {
  second = malloc(sizeof *second);
  second->next = 0;
  second->taken = 0;
  struct node *first = malloc(sizeof *first);
  first->next = second;
  first->taken = 0;
  atomic_store(&top, first);
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  struct node *old = atomic_load(&top);
  if (old == first) {
    int popped = atomic_compare_exchange_strong(&top, &old, second);
    pthread_join(t, 0);
    if (popped && atomic_load(&top) == second) assert(!second->taken); //~ ERROR
  }
  return 0;
}
