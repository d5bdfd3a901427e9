// Allocated objects have no order that is known.
// todo: assertions=false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int *one, *other;
void *w(void *unused) {
  one = malloc(sizeof *one);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, w, 0);
  pthread_join(t, 0);
  other = malloc(sizeof *other);
  assert(other < one);
  return 0;
}
