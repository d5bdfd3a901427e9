// The world outside decides why a function fails.
// todo: races=false
#include <errno.h>
#include <unistd.h>
#include <pthread.h>

static int shared;

static void *worker(void *arg) {
  shared++; //~ RACE
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, other;
  errno = 0;
  if (close(argc) == 0 || errno != EINTR) return 1;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
