// The parts of a number are numbers: no address comes from a function that takes a float apart.
// expect: races=true
// args: --engine summaries --data-model LP64
#include <math.h>
#include <pthread.h>
#include <string.h>

static int x, own[4];
static int *known = &x;

static void touch(double number) {
  int exponent;
  double part = frexp(number, &exponent);
  long at;
  memcpy(&at, &part, sizeof at);
  own[at & 3] = 1;
}

static void *work(void *argument) {
  *known = 1;
  return 0;
}

int main(void) {
  pthread_t one;
  pthread_create(&one, 0, work, 0);
  touch(2.5);
  return 0;
}
