// Two threads print into the same buffer.
// expect: races=false
#include <pthread.h>
#include <stdio.h>
static char text[8];
static void *work(void *argument) {
  snprintf(text, sizeof text, "%d", 12345); //~ RACE
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
