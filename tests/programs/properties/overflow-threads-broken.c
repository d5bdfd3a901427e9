// Two threads increment a counter that has room for one: every run ends in an overflow.
// expect: assertions=true overflow=false
// todo: races=true
#include <limits.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n = INT_MAX - 1;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  n++; //~ ERROR
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
