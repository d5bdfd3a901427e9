// A pool of workers: the owner ends it by a flag that is not guarded, after all jobs were done.
// expect: races=false
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int keep_alive = 1;
int jobs;
int done;
void *worker(void *unused) {
  while (keep_alive) { //~ RACE
    pthread_mutex_lock(&lock);
    if (jobs > 0) {
      jobs = jobs - 1;
      done = done + 1;
      pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, worker, 0);
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&lock);
    jobs = jobs + 1;
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&lock);
  while (done < 20)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  keep_alive = 0; //~ RACE
  return 0;
}
