// A global pointer is both a variable of the list of threads and a word that holds a lock's address.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

struct job { int count; struct job *next; pthread_mutex_t lock; };
static struct job first;
static struct job *jobs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *work(void *unused) {
  pthread_mutex_lock(&lock);
  done++;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t threads[4];
  jobs = &first;
  for (int i = 0; i < 3; i++) {
    pthread_create(&threads[i], 0, work, 0);
    if (jobs->next)
      jobs->next->count = 1;
  }
  pthread_mutex_lock(&jobs->lock);
  jobs->count++;
  pthread_mutex_unlock(&jobs->lock);
  return 0;
}
