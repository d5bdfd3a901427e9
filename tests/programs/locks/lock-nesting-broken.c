// The outer lock is released where the inner one should be.
// expect: assertions=true races=false
#include <pthread.h>
pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
int x;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&inner);
  pthread_mutex_unlock(&outer);
  x++; //~ RACE
  pthread_mutex_unlock(&inner);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_mutex_lock(&outer);
  x++; //~ RACE
  pthread_mutex_unlock(&outer);
  pthread_join(t, 0);
  return 0;
}
