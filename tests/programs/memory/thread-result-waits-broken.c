// What a thread allocated is lost where nobody asks for its result, and the first thread waits for ever. Nothing is
// proved.
// todo: memtrack=false
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
sem_t never;
static void *make(void *unused) {
  return malloc(3);
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, make, 0);
  pthread_join(t, 0);
  sem_wait(&never);
}
