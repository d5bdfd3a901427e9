// The first of two threads that call `exit` runs what is registered.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static _Thread_local int who;
static void finish(void) {
  assert(who == 0); //~ ERROR
}
static void *work(void *unused) {
  (void)unused;
  who = 1;
  exit(0);
}
int main(void) {
  pthread_t thread;
  atexit(finish);
  pthread_create(&thread, 0, work, 0);
  return 0;
}
