// The number of the lock is known, but a helper gives that lock back for a while by its address.
// expect: races=false
#include <pthread.h>

pthread_mutex_t locks[4];
int count, moved;

void acquire(int number) { pthread_mutex_lock(&locks[number]); }
void release(int number) { pthread_mutex_unlock(&locks[number]); }

void pause_in(pthread_mutex_t *mutex) {
  pthread_mutex_unlock(mutex);
  moved = count; //~ RACE
  pthread_mutex_lock(mutex);
}

void *worker(void *argument) {
  acquire(1);
  pause_in(&locks[1]);
  release(1);
  return 0;
}

int main(void) {
  pthread_t thread;
  for (int i = 0; i < 4; i++)
    pthread_mutex_init(&locks[i], 0);
  pthread_create(&thread, 0, worker, 0);
  acquire(1);
  count--; //~ RACE
  release(1);
  return 0;
}
