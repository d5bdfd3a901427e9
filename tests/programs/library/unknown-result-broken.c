// Whatever a function returns of which nothing is known, two threads count without a lock.
// expect: races=false
#include <pthread.h>
int measure(int);
int count;
static int last;
static void *work(void *argument) {
  count++; //~ RACE
  return 0;
}
int main(void) {
  last = measure(3);
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
