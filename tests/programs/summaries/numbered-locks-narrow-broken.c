// The number of a lock is cut off where it is passed: 258 and 1 are two locks, though 258 and 2 are one.
// expect: races=false
#include <pthread.h>

pthread_mutex_t locks[4];
int count, moved;

void acquire(unsigned char number) { pthread_mutex_lock(&locks[number]); }
void release(unsigned char number) { pthread_mutex_unlock(&locks[number]); }

void *worker(void *argument) {
  acquire(258);
  count++; //~ RACE
  release(258);
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
