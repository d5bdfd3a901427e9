// Only an attempt that succeeds leads to the data.
// expect: assertions=true races=true
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int a;
void *f(void *arg) {
  (void)arg;
  pthread_rwlock_wrlock(&l);
  a = 1;
  pthread_rwlock_unlock(&l);
  return 0;
}
int main(void) {
  pthread_t t;
  int seen = 0;
  pthread_create(&t, 0, f, 0);
  if (pthread_rwlock_tryrdlock(&l) == 0) {
    seen = a;
    pthread_rwlock_unlock(&l);
  }
  pthread_join(t, 0);
  return seen;
}
