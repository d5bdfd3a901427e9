// args: --check races
// Two counters, one of which is not protected; one lock is read-write.
#include <pthread.h>
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int safe, open;

void *reader(void *arg) {
  int seen;
  pthread_rwlock_rdlock(&lock);
  seen = safe;
  pthread_rwlock_unlock(&lock);
  open = seen;
  return arg;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, reader, 0);
  pthread_rwlock_wrlock(&lock);
  safe = 7;
  pthread_rwlock_unlock(&lock);
  open = open + 1;
  return 0;
}
