// Three right-handed dining philosophers.
// expect: assertions=true races=true deadlock=false
#include <pthread.h>
#include <stdint.h>
pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
void *philosopher(void *arg) {
  int i = (int)(intptr_t)arg;
  int a = i, b = (i + 1) % 3;
  pthread_mutex_lock(&forks[a]);
  pthread_mutex_lock(&forks[b]); //~ ERROR
  pthread_mutex_unlock(&forks[b]);
  pthread_mutex_unlock(&forks[a]);
  return 0;
}
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&t[i], 0, philosopher, (void *)(intptr_t)i);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], 0);
  return 0;
}
