// Like moved-pointer.c, but the sum is one of integers: the number may be the counter's address.
// todo: races=false
// args: --engine summaries --data-model LP64
#include <pthread.h>

unsigned long __VERIFIER_nondet_ulong(void);
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
int count;

void store(unsigned long first, unsigned long at) {
  if (first + at == (unsigned long)&count) {
    pthread_mutex_lock(&table_lock);
    *(int *)(first + at) = 1; //~ RACE
    pthread_mutex_unlock(&table_lock);
  }
}

void *worker(void *argument) {
  pthread_mutex_lock(&count_lock);
  count++; //~ RACE
  pthread_mutex_unlock(&count_lock);
  store(0, __VERIFIER_nondet_ulong());
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
