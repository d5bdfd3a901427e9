// The index is checked and used under one lock.
// expect: assertions=true races=true bounds=true
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int v[2], i = 1;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  i = 2;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_mutex_lock(&m);
  int ok = i < 2;
  if (ok)
    v[i] = 1;
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
