// expect: bounds=false
// A read-write lock needs an object of its own size.
#include <pthread.h>
static long small;
int main(void) {
  pthread_rwlock_rdlock((pthread_rwlock_t *)&small); //~ ERROR
  return 0;
}
