// Threads created in a loop are joined through an array of handles.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  n++;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t[3];
  int i;
  for (i = 0; i < 3; i++)
    pthread_create(&t[i], 0, f, 0);
  for (i = 0; i < 3; i++)
    pthread_join(t[i], 0);
  int r = n;
  assert(r == 3);
  return 0;
}
