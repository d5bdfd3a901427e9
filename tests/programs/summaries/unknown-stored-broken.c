// A value of which nothing is known is stored where others read it; one thread writes it plainly.
// expect: races=false
#include <pthread.h>
long flags = 1;
void *set(void *argument) {
  flags |= 1; //~ RACE
  pthread_exit(0);
}
void *take(void *argument) {
  while (__sync_lock_test_and_set(&flags, 1)) ; //~ RACE
  return argument;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, take, 0);
  pthread_create(&two, 0, set, 0);
  return 0;
}
