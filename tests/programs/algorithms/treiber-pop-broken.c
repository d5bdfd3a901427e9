// Two threads pop the same node.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct node { struct node *next; } nodes[2] = {{&nodes[1]}, {0}};
struct node *_Atomic top = &nodes[0];
void *pop(void *arg) {
  (void)arg;
  struct node *old = atomic_load(&top);
  atomic_store(&top, old->next);
  return old;
}
int main(void) {
  pthread_t t;
  void *mine, *other;
  pthread_create(&t, 0, pop, 0);
  mine = pop(0);
  pthread_join(t, &other);
  assert(mine != other); //~ ERROR
  return 0;
}
