// A lock that is given back and never taken: a wrapper that is called with it or with another one loses its claim to
// both, and everything else is still proved.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t never_taken = PTHREAD_MUTEX_INITIALIZER;
int count;

static void give_back(pthread_mutex_t *lock) {
  (void)lock;
  pthread_mutex_unlock(&never_taken);
}

void *worker(void *argument) {
  pthread_mutex_lock(&taken);
  count++;
  pthread_mutex_unlock(&taken);
  return argument;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  pthread_mutex_lock(&taken);
  give_back(&taken);
  give_back(&never_taken);
  return 0;
}
