// expect: bounds=true
// Memory of the right size will do, wherever it is.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static _Alignas(16) char place[sizeof(sem_t)];
int main(void) {
  pthread_rwlock_t *lock = malloc(sizeof *lock);
  pthread_rwlock_init(lock, 0);
  pthread_rwlock_rdlock(lock);
  pthread_rwlock_unlock(lock);
  free(lock);
  sem_init((sem_t *)place, 0, 1);
  sem_wait((sem_t *)place);
  return 0;
}
