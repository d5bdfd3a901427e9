// Threads are started and joined in procedures of their own; one of them changes the length of the array.
// expect: races=false
#include <pthread.h>

static pthread_t ids[2];
static int values[2];
static unsigned count = 2;
static int total;

static void *work(void *argument) {
  int *value = argument;
  *value = total; //~ RACE
  if (value == values)
    count = 1; //~ RACE
  return 0;
}

static void start_all(void) {
  for (unsigned i = 0; i < 2; i++)
    pthread_create(&ids[i], 0, work, &values[i]);
}

static void join_all(void) {
  for (unsigned i = 0; i < count; i++) //~ RACE
    pthread_join(ids[i], 0);
}

int main(void) {
  start_all();
  join_all();
  total = 4; //~ RACE
  return 0;
}
