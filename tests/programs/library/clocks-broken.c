// Clocks may stand still, or advance by any time.
// expect: races=false
#include <time.h>
#include <pthread.h>

static int shared;

static void *worker(void *arg) {
  shared++; //~ RACE
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, other;
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (end.tv_sec != start.tv_sec || clock() < 0 || difftime(7, 4) != 3.0) return 1;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
