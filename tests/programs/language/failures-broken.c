// With --failures there may be no memory and no thread.
// expect: assertions=false races=true
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
  *p = 1;
  if (pthread_create(&thread, 0, work, 0) == 0)
    pthread_join(thread, 0);
  assert(done == 1); //~ ERROR
  free(p);
  return 0;
}
