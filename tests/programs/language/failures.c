// Failures that are looked at do no harm; a failed `realloc` keeps the old object.
// expect: assertions=true races=true
// args: --failures
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int done;
static void *work(void *unused) {
  done = 1;
  return unused;
}
int main(void) {
  pthread_t thread;
  int *p = malloc(sizeof *p);
  if (!p)
    return 1;
  *p = 7;
  int *q = realloc(p, 2 * sizeof *p);
  if (q)
    p = q;
  assert(*p == 7);
  free(p);
  if (pthread_create(&thread, 0, work, 0) != 0)
    return 1;
  pthread_join(thread, 0);
  assert(done == 1);
  return 0;
}
