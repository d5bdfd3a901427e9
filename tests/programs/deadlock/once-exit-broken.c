// The thread that does what is done once ends on the way.
// expect: deadlock=false
#include <pthread.h>
pthread_once_t o = PTHREAD_ONCE_INIT;
int n;
void set(void) {
  n = 1;
  pthread_exit(0);
}
void *f(void *arg) {
  (void)arg;
  pthread_once(&o, set);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, f, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
