// A number that a function gives is compared with a difference of addresses. It stays a number: what is written at it is the table alone.
// expect: races=true
// args: --engine summaries --data-model LP64
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
char table[16];
char *end = table + 16;
int count;
int *counter = &count;

void note(const char *text) {
  double value = strtod(text, 0);
  unsigned long at = (unsigned long)(long double)value;
  pthread_mutex_lock(&table_lock);
  if (at < (unsigned long)(end - table)) table[at]++;
  pthread_mutex_unlock(&table_lock);
}

void *worker(void *argument) {
  note("3.5");
  pthread_mutex_lock(&count_lock);
  (*counter)++;
  pthread_mutex_unlock(&count_lock);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
