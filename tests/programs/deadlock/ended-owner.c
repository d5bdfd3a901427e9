// A thread ends without a lock that main needs, while another sleeps for ever.
// expect: deadlock=true
#include <pthread.h>
#include <unistd.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return 0;
}
void *idle(void *arg) {
  (void)arg;
  for (;;)
    sleep(1);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&u, 0, idle, 0);
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return 0;
}
