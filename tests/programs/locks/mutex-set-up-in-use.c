// A mutex is set up before the threads start, and ended and set up again after they are joined.
// expect: assertions=true races=true deadlock=true
#include <pthread.h>
pthread_mutex_t m;
int n;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  n++;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_mutex_init(&m, 0);
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_mutex_destroy(&m);
  pthread_mutex_init(&m, 0);
  pthread_create(&a, 0, f, 0);
  pthread_join(a, 0);
  pthread_mutex_destroy(&m);
  return 0;
}
