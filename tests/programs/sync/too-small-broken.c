// expect: bounds=false
// A semaphore needs an object of its own size.
#include <semaphore.h>
static long small = 1;
int main(void) {
  sem_wait((sem_t *)&small); //~ ERROR
  return 0;
}
