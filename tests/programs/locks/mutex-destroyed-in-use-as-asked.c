// With `--memory-model sc`, destroying a mutex is no access to it.
// args: --memory-model sc
// expect: races=true
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_mutex_destroy(&m);
  pthread_join(t, 0);
  return 0;
}
