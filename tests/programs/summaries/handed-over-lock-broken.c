// A lock is held in an object that is handed over: its new owner clears it, and takes it.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct job {
  pthread_mutex_t mutex;
  int input;
};

int count;

void *worker(void *argument) {
  struct job *job = argument;
  memset(job, 0, sizeof *job);
  pthread_mutex_lock(&job->mutex);
  count++; //~ RACE
  pthread_mutex_unlock(&job->mutex);
  return 0;
}

int main(void) {
  pthread_t thread;
  struct job *job = malloc(sizeof *job);
  pthread_mutex_init(&job->mutex, 0);
  pthread_mutex_lock(&job->mutex);
  pthread_create(&thread, 0, worker, job);
  count++; //~ RACE
  return 0;
}
