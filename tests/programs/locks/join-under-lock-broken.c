// Main joins a thread while holding the lock it needs.
// expect: assertions=true races=true deadlock=false
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m); //~ ERROR
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_mutex_lock(&m);
  pthread_join(t, 0); //~ ERROR
  pthread_mutex_unlock(&m);
  return 0;
}
