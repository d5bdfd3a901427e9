// A sum of integers that may both be addresses: it is that of the counter.
// todo: races=false
// args: --engine summaries --data-model LP64
#include <pthread.h>

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
int table[8];
int count;
unsigned long bases[2];
unsigned long numbers[2];

void store(int which, int value) {
  unsigned long sum = bases[which] + numbers[which];
  pthread_mutex_lock(&table_lock);
  *(int *)sum = value; //~ RACE
  pthread_mutex_unlock(&table_lock);
}

void *worker(void *argument) {
  pthread_mutex_lock(&count_lock);
  count++; //~ RACE
  pthread_mutex_unlock(&count_lock);
  store(1, 2);
  return 0;
}

int main(void) {
  pthread_t one, two;
  bases[0] = (unsigned long)table;
  numbers[1] = (unsigned long)&count;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
