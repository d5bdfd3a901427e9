// What is left of an address in a length, a hash or a byte is no address: what it is computed from stays the thread's own.
// expect: races=true
// args: --engine summaries --data-model LP64
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long total;
unsigned last_hash;
char first_byte;

void *worker(void *argument) {
  char *text = malloc(16), *end = text;
  int i;
  for (i = 0; i < 3; i++)
    *end++ = 'x';
  pthread_mutex_lock(&lock);
  total += end - text;
  last_hash = (unsigned)((unsigned long)text >> 4) * 31;
  first_byte = *(char *)&end;
  pthread_mutex_unlock(&lock);
  text[4] = 'y';
  end[-1] = 'z';
  free(text);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
