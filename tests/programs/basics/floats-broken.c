// Three tenths are not 0.3; a float that two threads change races.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
static float total;
static void *work(void *argument) {
  total += 0.5f; //~ RACE
  return 0;
}
int main(void) {
  double tenth = 0.1;
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  assert(tenth * 3 == 0.3); //~ ERROR
  return 0;
}
