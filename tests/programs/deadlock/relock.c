// A thread takes a mutex of the error-checking kind again.
// expect: deadlock=true
#include <pthread.h>
#define KIND PTHREAD_MUTEX_ERRORCHECK
int main(void) {
  pthread_mutex_t m;
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, KIND);
  pthread_mutex_init(&m, &a);
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return 0;
}
