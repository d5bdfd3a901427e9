// A thread that is detached is joined: that is undefined, and common libraries do not wait for it.
// todo: races=false
#include <pthread.h>
int done;
static void *work(void *unused) {
  done = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_detach(t);
  pthread_join(t, 0);
  return done;
}
