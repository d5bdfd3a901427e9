// Time may pass in any steps, or be set back.
// expect: races=false
#include <pthread.h>
#include <sys/time.h>
static int shared;
static void *worker(void *unused) {
  shared = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t one;
  struct timeval start, now;
  gettimeofday(&start, 0);
  do {
    gettimeofday(&now, 0);
  } while (1e6 * now.tv_sec + now.tv_usec < 1e6 * start.tv_sec + start.tv_usec + 20);
  if (1e6 * now.tv_sec + now.tv_usec != 1e6 * start.tv_sec + start.tv_usec + 20)
    return 1;
  pthread_create(&one, 0, worker, 0);
  shared = 2; //~ RACE
  pthread_join(one, 0);
  return 0;
}
