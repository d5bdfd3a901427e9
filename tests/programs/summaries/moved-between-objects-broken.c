// A pointer moves by the difference of two pointers that are never in one object. C gives that no meaning, but it leads
// from one to the other on common machines: nothing is proved.
// todo: races=false
// args: --engine summaries --data-model LP64
#include <pthread.h>
#include <stddef.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
int one_count;
int two_count;
ptrdiff_t between;

void *worker(void *argument) {
  char *p = (char *)&one_count;
  pthread_mutex_lock(&lock);
  *(int *)(p + between) = 1; //~ RACE
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&other);
  two_count++; //~ RACE
  pthread_mutex_unlock(&other);
  return 0;
}

int main(void) {
  pthread_t one, two;
  char *to = (char *)&two_count;
  char *from = (char *)&one_count;
  between = to - from;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
