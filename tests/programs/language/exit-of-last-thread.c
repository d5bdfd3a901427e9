// The program ends when its last thread does; what is registered runs in the thread that calls `exit`.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int done;
static void finish(void) { assert(done == 1); }
static void *work(void *unused) {
  (void)unused;
  done = 1;
  exit(0);
}
int main(void) {
  pthread_t thread;
  atexit(finish);
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  assert(0);
  return 0;
}
