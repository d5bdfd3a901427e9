// The pointer to the lock is changed between two critical sections.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
int n;
void *f(void *arg) {
  pthread_mutex_t *l = arg;
  pthread_mutex_lock(l);
  n++; //~ RACE
  pthread_mutex_unlock(l);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_mutex_t *l = &m1;
  pthread_create(&t, 0, f, l);
  l = &m2;
  pthread_create(&u, 0, f, l);
  pthread_join(t, 0);
  pthread_join(u, 0);
  assert(n == 2); //~ ERROR
  return 0;
}
