// localtime_r stores where it is told to.
// expect: races=true
#include <pthread.h>
#include <time.h>
static void *work(void *argument) {
  time_t zero = 0;
  struct tm now;
  localtime_r(&zero, &now);
  return (void *)(long)now.tm_year;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
