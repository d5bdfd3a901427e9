// The value is above the largest one that a semaphore may have.
// expect: assertions=false
#include <assert.h>
#include <semaphore.h>
int main(void) {
  sem_t semaphore;
  assert(sem_init(&semaphore, 0, 0x80000000u) == 0); //~ ERROR
  return 0;
}
