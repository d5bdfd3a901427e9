// exit in a thread ends all threads, so main never gets past the join.
// expect: assertions=true races=true
#include <assert.h>
#include <stdlib.h>
#include <pthread.h>
void *f(void *arg) {
  (void)arg;
  exit(0);
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  assert(0);
  return 0;
}
