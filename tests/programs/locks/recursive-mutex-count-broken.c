// The recursive mutex is unlocked once too early.
// expect: assertions=false races=false
#include <pthread.h>
#include <assert.h>
pthread_mutex_t m;
int n;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  pthread_mutex_unlock(&m);
  int t = n; //~ RACE
  n = t + 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&m, &attr);
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2); //~ ERROR
  return 0;
}
