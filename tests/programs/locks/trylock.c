// The counter is changed only when trylock succeeds.
// expect: assertions=true races=true
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;
void *f(void *arg) {
  (void)arg;
  if (pthread_mutex_trylock(&m) == 0) {
    n++;
    pthread_mutex_unlock(&m);
  }
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
