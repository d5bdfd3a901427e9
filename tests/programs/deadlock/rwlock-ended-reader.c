// A thread ends after it gave back its read lock, and another wants to write.
// expect: deadlock=true
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_rwlock_rdlock(&l);
  pthread_rwlock_unlock(&l);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  pthread_rwlock_wrlock(&l);
  pthread_rwlock_unlock(&l);
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
