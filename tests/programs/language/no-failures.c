// Without --failures, allocation and starting threads succeed.
// expect: assertions=true races=true bounds=true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int done;
static void *work(void *argument) {
  done = *(int *)argument;
  return 0;
}
int main(void) {
  pthread_t thread;
  int *p = malloc(sizeof *p);
  assert(p);
  *p = 1;
  int result = pthread_create(&thread, 0, work, p);
  assert(result == 0);
  pthread_join(thread, 0);
  assert(done == 1);
  free(p);
  return 0;
}
