// A decimal number in a text is what it says.
// expect: races=false
#include <stdlib.h>
#include <pthread.h>

static int shared;

static void *worker(void *arg) {
  shared++; //~ RACE
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, other;
  char *end;
  if (strtod("2.50x", &end) != 2.5 || atof(" -3") != -3.0) return 1;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
