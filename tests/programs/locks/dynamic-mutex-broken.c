// The critical section of the thread ends too early.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m;
int n;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  int t = n; //~ RACE
  pthread_mutex_unlock(&m);
  n = t + 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_mutex_init(&m, NULL);
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_mutex_destroy(&m);
  assert(n == 2); //~ ERROR
  return 0;
}
