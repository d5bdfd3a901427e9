// The thread that counts down to 0 frees.
// expect: deref=true free=true memtrack=true memcleanup=true
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct counted {
  atomic_int users;
  int value;
};
static void drop(struct counted *c) {
  if (atomic_fetch_sub(&c->users, 1) == 1)
    free(c);
}
static void *use(void *passed) {
  struct counted *c = passed;
  int v = c->value;
  drop(c);
  return 0;
}
int main(void) {
  pthread_t t;
  struct counted *c = malloc(sizeof *c);
  atomic_init(&c->users, 2);
  c->value = 7;
  pthread_create(&t, 0, use, c);
  drop(c);
  pthread_join(t, 0);
  return 0;
}
