// All accesses hold the same lock.
// expect: assertions=true races=true
#include <pthread.h>
pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
int x;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m1);
  x = 1;
  pthread_mutex_unlock(&m1);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m1);
  x = 2;
  pthread_mutex_unlock(&m1);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
