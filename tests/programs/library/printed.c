// Each thread prints into a buffer of its own.
// expect: races=true
#include <pthread.h>
#include <stdio.h>
static void *work(void *argument) {
  char own[8];
  snprintf(own, sizeof own, "%d", 12345);
  return 0;
}
int main(void) {
  char text[8] = "unset!!";
  pthread_t one;
  pthread_create(&one, 0, work, 0);
  snprintf(text, sizeof text, "%s%c", "ab", 'c');
  pthread_join(one, 0);
  return 0;
}
