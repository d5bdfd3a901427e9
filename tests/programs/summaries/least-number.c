// expect: races=true
// args: --engine summaries
// The least number has no absolute value, and an index may be moved by it.
#include <limits.h>
#include <pthread.h>
static int x;
static char text[8];
static void *work(void *argument) {
  x = 1;
  return 0;
}
int main(void) {
  long low = LONG_MIN;
  int i = 3;
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  char *place = text + (unsigned long)i + LONG_MAX - LONG_MIN;
  pthread_join(thread, 0);
  x = low < 0 && place != 0;
  return 0;
}
