// Doubling after the addition stays small in every order.
// expect: assertions=true races=true overflow=true
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n = 1;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  n = n * 1000;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_mutex_lock(&m);
  n = n + 1999;
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
