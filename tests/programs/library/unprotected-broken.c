// Two threads change the environment.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
static void *work(void *argument) {
  setenv("NAME", "value", 1); //~ RACE
  return 0;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
