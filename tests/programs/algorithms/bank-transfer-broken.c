// A transfer that releases the first lock too early shows a wrong sum.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
pthread_mutex_t la = PTHREAD_MUTEX_INITIALIZER, lb = PTHREAD_MUTEX_INITIALIZER;
int a = 5, b = 5;
void *transfer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&la);
  a -= 1;
  pthread_mutex_unlock(&la);
  pthread_mutex_lock(&lb);
  b += 1;
  pthread_mutex_unlock(&lb);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, transfer, 0);
  pthread_mutex_lock(&la);
  pthread_mutex_lock(&lb);
  int sum = a + b;
  pthread_mutex_unlock(&lb);
  pthread_mutex_unlock(&la);
  assert(sum == 10); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
