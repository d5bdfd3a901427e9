// Opposite lock orders are harmless under a common gate lock.
// expect: assertions=true races=true deadlock=true
#include <pthread.h>
pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *x, pthread_mutex_t *y) {
  pthread_mutex_lock(&gate);
  pthread_mutex_lock(x);
  pthread_mutex_lock(y);
  pthread_mutex_unlock(y);
  pthread_mutex_unlock(x);
  pthread_mutex_unlock(&gate);
}
void *f(void *arg) { (void)arg; both(&a, &b); return 0; }
void *g(void *arg) { (void)arg; both(&b, &a); return 0; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
