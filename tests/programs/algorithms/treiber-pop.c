// Two threads pop different nodes from a lock-free stack.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct node { struct node *next; } nodes[2] = {{&nodes[1]}, {0}};
struct node *_Atomic top = &nodes[0];
void *pop(void *arg) {
  (void)arg;
  struct node *old = atomic_load(&top);
  while (!atomic_compare_exchange_strong(&top, &old, old->next))
    ;
  return old;
}
int main(void) {
  pthread_t t;
  void *mine, *other;
  pthread_create(&t, 0, pop, 0);
  mine = pop(0);
  pthread_join(t, &other);
  assert(mine != other);
  return 0;
}
