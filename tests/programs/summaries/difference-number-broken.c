// Like difference-broken.c, but the difference is added to an address as an integer: the sum is followed into both.
// todo: races=false
// args: --engine summaries --data-model LP64
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
char one_count[8];
char two_count[8];

void *worker(void *argument) {
  char *from = one_count;
  char *to = argument ? one_count : two_count;
  long between = to - from;
  pthread_mutex_lock(&lock);
  *(char *)((unsigned long)from + (unsigned long)between) = 1; //~ RACE
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&other);
  two_count[0] = 2; //~ RACE
  pthread_mutex_unlock(&other);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
