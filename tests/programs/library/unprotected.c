// The environment is changed by one thread at a time, and read by many.
// expect: races=true
#include <pthread.h>
#include <stdlib.h>
static void *work(void *argument) {
  return getenv("NAME") ? argument : 0;
}
int main(void) {
  pthread_t one, other;
  setenv("NAME", "value", 1);
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  setenv("NAME", "", 1);
  return 0;
}
