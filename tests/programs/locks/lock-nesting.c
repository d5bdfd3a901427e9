// Inner unlock leaves the outer lock held, which protects the counter.
// expect: assertions=true races=true
#include <pthread.h>
pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
int x;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&inner);
  pthread_mutex_unlock(&inner);
  x++;
  pthread_mutex_unlock(&outer);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  pthread_mutex_lock(&outer);
  x++;
  pthread_mutex_unlock(&outer);
  pthread_join(t, 0);
  return 0;
}
