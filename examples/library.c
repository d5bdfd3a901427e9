// A counter without a `main`: `add` takes the lock, `peek` does not.
#include <pthread.h>

static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void add(int by) {
  pthread_mutex_lock(&lock);
  count = count + by;
  pthread_mutex_unlock(&lock);
}

int peek(void) {
  return count;
}
