// One of the files that select looks at is ready.
// expect: races=true
#include <sys/select.h>
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
  pthread_mutex_lock(&lock);
  shared++;
  pthread_mutex_unlock(&lock);
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
