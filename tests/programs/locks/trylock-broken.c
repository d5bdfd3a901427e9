// The result of trylock is ignored.
// expect: assertions=true races=false
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;
void *f(void *arg) {
  (void)arg;
  {
    int r = pthread_mutex_trylock(&m);
    n++; //~ RACE
    if (r == 0)
      pthread_mutex_unlock(&m);
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
