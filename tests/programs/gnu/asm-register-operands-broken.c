// The value that one thread writes is lost when the other writes back what it read before.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
int x;
static void *set(void *arg) {
  x = 1; //~ RACE
  return arg;
}
static void *hide(void *arg) {
  __asm__ volatile("" : "+r"(x)); //~ RACE
  return arg;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, set, 0);
  pthread_create(&two, 0, hide, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(x == 1); //~ ERROR
  return 0;
}
