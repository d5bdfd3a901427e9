// A semaphore cannot start above its largest value.
// expect: assertions=true
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
int main(void) {
  sem_t semaphore;
  unsigned most = 0x7fffffff;
  assert(sem_init(&semaphore, 0, most) == 0);
  assert(sem_init(&semaphore, 0, most + 1) == -1 && errno == EINVAL);
  return 0;
}
