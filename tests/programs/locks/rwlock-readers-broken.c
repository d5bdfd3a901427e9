// Two writers may not hold a read-write lock together.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <errno.h>
pthread_rwlock_t l;
int main(void) {
  pthread_rwlock_init(&l, 0);
  assert(pthread_rwlock_tryrdlock(&l) == 0);
  assert(pthread_rwlock_tryrdlock(&l) == 0);
  assert(pthread_rwlock_trywrlock(&l) == 0); //~ ERROR
  pthread_rwlock_unlock(&l);
  pthread_rwlock_unlock(&l);
  assert(pthread_rwlock_trywrlock(&l) == 0);
  pthread_rwlock_unlock(&l);
  pthread_rwlock_destroy(&l);
  return 0;
}
