// The address of a function that was moved is moved back, and the function is called. It takes no lock.
// expect: races=false
#include <pthread.h>
#include <stdint.h>
int counter;
uintptr_t tagged;
static void count(void) {
  counter = counter + 1; //~ RACE
}
static void *work(void *unused) {
  void (*call)(void) = (void (*)(void))(tagged - 1);
  call();
  return 0;
}
int main(void) {
  pthread_t one, other;
  tagged = (uintptr_t)count + 1;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
