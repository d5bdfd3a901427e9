// Where trylock fails, the thread waits for the lock: what it does then happens after what the owner did.
// expect: assertions=true races=true
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int ready;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  if (pthread_mutex_trylock(&m) != 0)
    pthread_mutex_lock(&m);
  ready = 2;
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
