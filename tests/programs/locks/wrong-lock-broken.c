// The two threads hold different locks.
// expect: assertions=true races=false
#include <pthread.h>
pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
int x;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m1);
  x = 1; //~ RACE
  pthread_mutex_unlock(&m1);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m2);
  x = 2; //~ RACE
  pthread_mutex_unlock(&m2);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
