// A number that is computed from a truth value, and a variable that the other thread writes, too.
// expect: races=false
#include <pthread.h>

int count;

void *work(void *argument) {
  count = 2; //~ RACE
  return argument;
}

int main(void) {
  int number = 0;
  pthread_t id;
  pthread_create(&id, 0, work, 0);
  number = (number || 0) + 1;
  if (0 < number)
    count = number; //~ RACE
  pthread_join(id, 0);
  return 0;
}
