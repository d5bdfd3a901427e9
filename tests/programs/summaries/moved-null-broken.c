// What is counted from null is an address that is cast: the counter's.
// todo: races=false
// args: --engine summaries --data-model LP64
#include <pthread.h>

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
int count;
unsigned long number;

void *worker(void *argument) {
  pthread_mutex_lock(&count_lock);
  count++; //~ RACE
  pthread_mutex_unlock(&count_lock);
  pthread_mutex_lock(&table_lock);
  *(int *)((char *)0 + number) = 1; //~ RACE
  pthread_mutex_unlock(&table_lock);
  return 0;
}

int main(void) {
  pthread_t one, two;
  number = (unsigned long)&count;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
