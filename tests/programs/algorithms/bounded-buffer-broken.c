// The consumer takes an item from the buffer without checking again.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
int count, item;
void *producer(void *arg) {
  (void)arg;
  for (int i = 1; i <= 2; i++) {
    pthread_mutex_lock(&m);
    while (count == 1)
      pthread_cond_wait(&empty, &m);
    item = i;
    count++;
    pthread_cond_signal(&full);
    pthread_mutex_unlock(&m);
  }
  return 0;
}
int main(void) {
  pthread_t p;
  pthread_create(&p, 0, producer, 0);
  for (int i = 1; i <= 2; i++) {
    pthread_mutex_lock(&m);
    if (count == 0)
      pthread_cond_wait(&full, &m);
    assert(item == i); //~ ERROR
    count--;
    pthread_cond_signal(&empty);
    pthread_mutex_unlock(&m);
  }
  pthread_join(p, 0);
  return 0;
}
