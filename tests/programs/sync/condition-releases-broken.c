// After the wait the other thread has added one.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m;
pthread_cond_t c;
int n, done;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  n++;
  done = 1;
  pthread_cond_broadcast(&c);
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_mutex_init(&m, 0);
  pthread_cond_init(&c, 0);
  pthread_mutex_lock(&m);
  pthread_create(&t, 0, f, 0);
  n = 5;
  while (!done)
    pthread_cond_wait(&c, &m);
  assert(n == 5); //~ ERROR
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  pthread_cond_destroy(&c);
  return 0;
}
