// A read-write lock and a mutex, in opposite orders.
// expect: deadlock=false
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_rwlock_rdlock(&l);
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  pthread_rwlock_unlock(&l);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  pthread_rwlock_wrlock(&l);
  pthread_rwlock_unlock(&l);
  pthread_mutex_unlock(&m);
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
