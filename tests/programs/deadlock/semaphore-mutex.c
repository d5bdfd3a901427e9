// A semaphore is waited for without the lock that its poster needs.
// expect: deadlock=true
#include <pthread.h>
#include <semaphore.h>
sem_t s;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  sem_wait(&s);
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return 0;
}
void *g(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  sem_post(&s);
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t, u;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
