// One of the files that select looks at is ready.
// expect: races=false
#include <sys/select.h>
#include <pthread.h>

static int shared;

static void *worker(void *arg) {
  shared++; //~ RACE
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, other;
  fd_set files;
  FD_ZERO(&files);
  FD_SET(0, &files);
  FD_SET(3, &files);
  if (select(4, &files, 0, 0, 0) != 1 || FD_ISSET(0, &files) || !FD_ISSET(3, &files)) return 1;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
