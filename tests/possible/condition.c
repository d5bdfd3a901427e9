// The thread is started if `umask`, which is not modelled, says so: that is no race, and no proof that there is none.
#include <pthread.h>
#include <sys/stat.h>
int shared;
void *worker(void *unused) {
  shared = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  if (umask(0) == 4) {
    pthread_create(&t, 0, worker, 0);
    shared = 2;
  }
  return 0;
}
