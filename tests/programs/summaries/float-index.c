// Indices come from floats that are not modelled (fabs, strtod, long double): they are no addresses, so what is written at them is the table alone.
// expect: races=true
// args: --engine summaries --data-model LP64
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
int table[16];
int count;
int *counter = &count;

void note(double value, const char *text) {
  long near = (long)fabs(value);
  long read = (long)strtod(text, 0);
  long wide = (long)((long double)value * 2.0L);
  pthread_mutex_lock(&table_lock);
  if (near >= 0 && near < 16) table[near]++;
  if (read >= 0 && read < 16) table[read]++;
  if (wide >= 0 && wide < 16) table[wide]++;
  pthread_mutex_unlock(&table_lock);
}

void *worker(void *argument) {
  note(2.5, "3.5");
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
