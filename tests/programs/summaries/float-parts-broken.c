// todo: races=false
// An address that a function takes apart as a float may come back from it: the race must not be missed.
// args: --engine summaries
#include <math.h>
#include <pthread.h>
#include <string.h>

static int x;

static void touch(double carried) {
  double whole;
  double same = modf(carried, &whole);
  int *p;
  memcpy(&p, &same, sizeof p);
  *p = 1;
}

static void *work(void *argument) {
  int *p = &x;
  double carried;
  memcpy(&carried, &p, sizeof carried);
  touch(carried);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  return 0;
}
