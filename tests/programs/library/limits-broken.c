// The limits of a process are inputs.
// expect: races=false
#include <pthread.h>
#include <sys/resource.h>
static int shared;
static void *worker(void *unused) {
  shared = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t one;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < 100 || limit.rlim_max == limit.rlim_cur)
    return 1;
  pthread_create(&one, 0, worker, 0);
  shared = 2; //~ RACE
  pthread_join(one, 0);
  return 0;
}
