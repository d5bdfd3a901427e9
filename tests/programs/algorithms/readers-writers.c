// Readers share and the writer is alone, with semaphores.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
sem_t mutex, wrt;
int readers, a, b;
void *reader(void *arg) {
  (void)arg;
  sem_wait(&mutex);
  if (++readers == 1)
    sem_wait(&wrt);
  sem_post(&mutex);
  int x = a;
  int y = b;
  assert(x == y);
  sem_wait(&mutex);
  if (--readers == 0)
    sem_post(&wrt);
  sem_post(&mutex);
  return 0;
}
int main(void) {
  pthread_t t, u;
  sem_init(&mutex, 0, 1);
  sem_init(&wrt, 0, 1);
  pthread_create(&t, 0, reader, 0);
  pthread_create(&u, 0, reader, 0);
  sem_wait(&wrt);
  a = 1;
  b = 1;
  sem_post(&wrt);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
