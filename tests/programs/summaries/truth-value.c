// A number that is computed from a truth value: what is known of it is what the checker follows.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

int count;

void *work(void *argument) {
  return argument;
}

int main(void) {
  int number = 0;
  pthread_t id;
  pthread_create(&id, 0, work, 0);
  number = (number || 0) + 1;
  if (0 < number)
    count = number;
  pthread_join(id, 0);
  return 0;
}
