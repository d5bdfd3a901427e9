// Two dining philosophers take the forks in the same order.
// expect: assertions=true races=true deadlock=true
#include <pthread.h>
#include <stdint.h>
pthread_mutex_t fork0 = PTHREAD_MUTEX_INITIALIZER, fork1 = PTHREAD_MUTEX_INITIALIZER;
static void eat(pthread_mutex_t *left, pthread_mutex_t *right) {
  pthread_mutex_lock(left);
  pthread_mutex_lock(right);
  pthread_mutex_unlock(right);
  pthread_mutex_unlock(left);
}
void *first(void *arg) { (void)arg; eat(&fork0, &fork1); return 0; }
void *second(void *arg) { (void)arg; eat(&fork0, &fork1); return 0; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, first, 0);
  pthread_create(&u, 0, second, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
