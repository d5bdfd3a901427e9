// Two readers may hold a read-write lock together and a writer may not.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <errno.h>
pthread_rwlock_t l;
int main(void) {
  pthread_rwlock_init(&l, 0);
  assert(pthread_rwlock_tryrdlock(&l) == 0);
  assert(pthread_rwlock_tryrdlock(&l) == 0);
  assert(pthread_rwlock_trywrlock(&l) == EBUSY);
  pthread_rwlock_unlock(&l);
  pthread_rwlock_unlock(&l);
  assert(pthread_rwlock_trywrlock(&l) == 0);
  pthread_rwlock_unlock(&l);
  pthread_rwlock_destroy(&l);
  return 0;
}
