// A semaphore that was made has the value that it was given, so two threads may pass.
// expect: races=false
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t *semaphore;
static int shared;
static void *worker(void *unused) {
  sem_wait(semaphore);
  shared = 1; //~ RACE
  sem_post(semaphore);
  return 0;
}
int main(void) {
  pthread_t one;
  semaphore = sem_open("/pool", O_CREAT | O_EXCL, 0600, 2);
  if (semaphore == SEM_FAILED)
    return 1;
  pthread_create(&one, 0, worker, 0);
  sem_wait(semaphore);
  shared = 2; //~ RACE
  sem_post(semaphore);
  pthread_join(one, 0);
  sem_close(semaphore);
  return 0;
}
