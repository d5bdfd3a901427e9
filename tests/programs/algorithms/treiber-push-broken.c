// Two threads push with a plain atomic store and lose a node.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct node { struct node *next; } nodes[2];
struct node *_Atomic top;
void *push(void *arg) {
  struct node *n = arg;
  struct node *old = atomic_load(&top);
  n->next = old;
  atomic_store(&top, n);
  return 0;
}
int main(void) {
  pthread_t a, b;
  int count = 0;
  pthread_create(&a, 0, push, &nodes[0]);
  pthread_create(&b, 0, push, &nodes[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
  for (struct node *p = top; p; p = p->next)
    count++;
  assert(count == 2); //~ ERROR
  return 0;
}
