// Each element of an array is protected by the mutex with the same index.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
int v[2];
void *f(void *arg) {
  int lock = (int)(intptr_t)arg;
  pthread_mutex_lock(&m[lock]);
  v[0]++;
  pthread_mutex_unlock(&m[lock]);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, (void *)0);
  pthread_create(&u, 0, f, (void *)0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  assert(v[0] == 2);
  return 0;
}
