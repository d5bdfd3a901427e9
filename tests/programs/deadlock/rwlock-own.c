// A thread gives back what it has for writing, and asks for it again.
// expect: deadlock=true
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_rwlock_wrlock(&l);
  pthread_rwlock_unlock(&l);
  pthread_rwlock_rdlock(&l);
  pthread_rwlock_unlock(&l);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  f(0);
  pthread_join(t, 0);
  return 0;
}
