// Three threads take three locks along one order.
// expect: assertions=true races=true deadlock=true
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static void take(pthread_mutex_t *x, pthread_mutex_t *y) {
  pthread_mutex_lock(x);
  pthread_mutex_lock(y);
  pthread_mutex_unlock(y);
  pthread_mutex_unlock(x);
}
void *f(void *arg) { (void)arg; take(&a, &b); return 0; }
void *g(void *arg) { (void)arg; take(&b, &c); return 0; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  take(&a, &c);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
