// todo: races=false
// An address that goes through a float that is not modelled is still an address: the race must not be missed. It is
// not found, since the value is not modelled.
#include <math.h>
#include <pthread.h>
#include <string.h>
static int x;
static void touch(double carried) {
  double same = fabs(carried);
  int *p;
  memcpy(&p, &same, sizeof p);
  *p = 1; //~ RACE
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
