// Each thread has an errno of its own.
// expect: races=true assertions=true
#include <assert.h>
#include <errno.h>
#include <pthread.h>
static void *work(void *argument) {
  errno = 3;
  return 0;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, work, 0);
  errno = 5;
  pthread_join(one, 0);
  assert(errno == 5);
  return 0;
}
