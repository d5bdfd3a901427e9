// Locks that are named by numbers: `acquire(MAPS)` takes `&locks[MAPS]`. Each number that is passed makes a summary of its
// own, also where a condition variable gives the lock back for a while, and where another lock is taken meanwhile.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

enum { LOG, MAPS, QUEUE, NUMBER };

pthread_mutex_t locks[NUMBER];
pthread_cond_t filled[1];
int lines, maps, queued;

void acquire(int number) { pthread_mutex_lock(&locks[number]); }
void release(int number) { pthread_mutex_unlock(&locks[number]); }

void give_way(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  pthread_mutex_unlock(mutex);
  pthread_mutex_lock(mutex);
}
void wait_for(int condition, unsigned char number) { give_way(&filled[condition], &locks[number]); }

void note(void) {
  acquire(LOG);
  lines++;
  release(LOG);
}

void *worker(void *argument) {
  acquire(MAPS);
  maps++;
  note();
  maps++;
  release(MAPS);
  acquire(QUEUE);
  queued++;
  release(QUEUE);
  return 0;
}

int main(void) {
  pthread_t one, two;
  for (int i = 0; i < NUMBER; i++)
    pthread_mutex_init(&locks[i], 0);
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  note();
  acquire(MAPS);
  maps--;
  release(MAPS);
  acquire(QUEUE);
  while (queued == 0)
    wait_for(0, QUEUE);
  queued--;
  release(QUEUE);
  return 0;
}
