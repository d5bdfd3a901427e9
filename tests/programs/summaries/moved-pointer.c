// A number may be the address that it is compared with, and moves a pointer: the pointer stays in its object, so what is
// written is the table alone.
// expect: races=true
// args: --engine summaries --data-model LP64
#include <pthread.h>

unsigned long __VERIFIER_nondet_ulong(void);
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
int table[8];
int count;

void store(int *first, unsigned long at) {
  if (at != (unsigned long)&count && at < 8) {
    pthread_mutex_lock(&table_lock);
    first[at] = 1;
    *(first + 7 - at) = 2;
    pthread_mutex_unlock(&table_lock);
  }
}

void *worker(void *argument) {
  pthread_mutex_lock(&count_lock);
  count++;
  pthread_mutex_unlock(&count_lock);
  store(table, __VERIFIER_nondet_ulong());
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
