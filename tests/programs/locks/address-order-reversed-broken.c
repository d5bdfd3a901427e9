// Two locks are taken in the order of their addresses by one thread only: in the other order that stops both, too.
// expect: deadlock=false
#include <pthread.h>
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int x;
static void both(pthread_mutex_t *a, pthread_mutex_t *b) {
  if (a < b) {
    pthread_mutex_lock(a);
    pthread_mutex_lock(b);
  } else {
    pthread_mutex_lock(b);
    pthread_mutex_lock(a);
  }
  x++;
  pthread_mutex_unlock(a);
  pthread_mutex_unlock(b);
}
void *w(void *unused) {
  pthread_mutex_lock(&other);
  pthread_mutex_lock(&one);
  x++;
  pthread_mutex_unlock(&one);
  pthread_mutex_unlock(&other);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, w, 0);
  both(&one, &other);
  pthread_join(t, 0);
  return 0;
}
