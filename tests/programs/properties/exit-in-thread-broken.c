// pthread_exit in a thread ends only that thread.
// expect: assertions=false races=true
#include <assert.h>
#include <stdlib.h>
#include <pthread.h>
void *f(void *arg) {
  (void)arg;
  pthread_exit(0);
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  assert(0); //~ ERROR
  return 0;
}
