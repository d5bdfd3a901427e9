// A thread asks for reading what it has for writing. POSIX lets it wait for ever; glibc gives an error.
// todo: deadlock=false
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int main(void) {
  pthread_rwlock_wrlock(&l);
  pthread_rwlock_rdlock(&l);
  return 0;
}
