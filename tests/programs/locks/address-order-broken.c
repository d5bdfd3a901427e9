// Two locks are taken in the order of their addresses by one thread only: in one of the two orders that stops both.
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
  pthread_mutex_lock(&one);
  pthread_mutex_lock(&other);
  x++;
  pthread_mutex_unlock(&other);
  pthread_mutex_unlock(&one);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, w, 0);
  both(&other, &one);
  pthread_join(t, 0);
  return 0;
}
