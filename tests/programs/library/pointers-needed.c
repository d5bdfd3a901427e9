// Functions get pointers to what they need, and null where it has a meaning.
// expect: bounds=true
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
struct queue {
  pthread_mutex_t mutex;
  pthread_cond_t filled;
};
static void *work(void *argument) {
  struct queue *queue = argument;
  pthread_mutex_lock(&queue->mutex);
  pthread_cond_signal(&queue->filled);
  pthread_mutex_unlock(&queue->mutex);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_mutexattr_t kind;
  sem_t semaphore;
  int value;
  struct timespec pause = {0, 1000};
  struct queue *queue = malloc(sizeof *queue);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_JOINABLE);
  pthread_mutexattr_init(&kind);
  pthread_mutex_init(&queue->mutex, &kind);
  pthread_mutexattr_destroy(&kind);
  pthread_cond_init(&queue->filled, 0);
  pthread_create(&thread, &attributes, work, queue);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, 0);
  pthread_cond_destroy(&queue->filled);
  pthread_mutex_destroy(&queue->mutex);
  free(queue);
  sem_init(&semaphore, 0, 1);
  sem_getvalue(&semaphore, &value);
  time(0);
  gettimeofday(0, 0);
  nanosleep(&pause, 0);
  system(0);
  return (int)strtol("1", 0, 10);
}
