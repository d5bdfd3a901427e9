// The counter is guarded everywhere but in one place, and the flag nowhere; the limit is set before the thread starts.
// expect: races=false
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
int guarded;
int limit;
int done;
void *worker(void *unused) {
  for (int i = 0; i < limit; i++) {
    pthread_mutex_lock(&lock);
    guarded = guarded + 1;
    counter = counter + 1; //~ RACE
    pthread_mutex_unlock(&lock);
  }
  done = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  limit = 2;
  pthread_create(&t, 0, worker, 0);
  pthread_mutex_lock(&lock);
  guarded = guarded + 1;
  counter = counter + 1;
  pthread_mutex_unlock(&lock);
  int early = counter; //~ RACE
  int late = done; //~ RACE
  pthread_join(t, 0);
  return early + late;
}
