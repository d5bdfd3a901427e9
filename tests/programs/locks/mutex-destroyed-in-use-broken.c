// The mutex is destroyed before the thread that uses it is joined.
// expect: races=false
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m); //~ RACE
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_mutex_destroy(&m); //~ RACE
  pthread_join(t, 0);
  return 0;
}
