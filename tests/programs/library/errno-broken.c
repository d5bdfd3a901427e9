// A call may set errno; which value is not modelled, but a thread that gets its address races.
// expect: races=false
#include <errno.h>
#include <pthread.h>
static void *work(void *argument) {
  *(int *)argument = 3; //~ RACE
  return 0;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, work, &errno);
  errno = 5; //~ RACE
  pthread_join(one, 0);
  return 0;
}
