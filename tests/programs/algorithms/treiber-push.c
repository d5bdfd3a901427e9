// Two threads push onto a lock-free stack.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct node { struct node *next; } nodes[2];
struct node *_Atomic top;
void *push(void *arg) {
  struct node *n = arg;
  struct node *old = atomic_load(&top);
  do
    n->next = old;
  while (!atomic_compare_exchange_strong(&top, &old, n));
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
  assert(count == 2);
  return 0;
}
