// One thread is detached, and another one is joined.
// expect: races=true
#include <pthread.h>
int done;
static void *work(void *unused) {
  done = 1;
  return 0;
}
static void *nothing(void *unused) {
  return 0;
}
int main(void) {
  pthread_t t, other;
  pthread_create(&other, 0, nothing, 0);
  pthread_detach(other);
  pthread_create(&t, 0, work, 0);
  pthread_join(t, 0);
  return done;
}
