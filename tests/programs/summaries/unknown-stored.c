// A value of which nothing is known is stored where others read it; no access is by it.
// expect: races=true
#include <pthread.h>
long flags = 1;
void *set(void *argument) {
  __sync_or_and_fetch(&flags, 1);
  pthread_exit(0);
}
void *take(void *argument) {
  while (__sync_lock_test_and_set(&flags, 1)) ;
  return argument;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, take, 0);
  pthread_create(&two, 0, set, 0);
  return 0;
}
