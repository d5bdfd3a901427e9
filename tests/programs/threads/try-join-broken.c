// expect: races=false
// An attempt to join a thread that has not ended orders nothing.
#define _GNU_SOURCE
#include <pthread.h>
static int x;
static void *work(void *argument) {
  x = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, work, 0);
  pthread_tryjoin_np(one, 0);
  x = 2; //~ RACE
  return 0;
}
