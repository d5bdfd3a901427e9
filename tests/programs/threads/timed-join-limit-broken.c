// expect: races=false
// The time is read.
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
static struct timespec limit;
static void *work(void *argument) {
  limit.tv_nsec = 5; //~ RACE
  return 0;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, work, 0);
  pthread_timedjoin_np(one, 0, &limit); //~ RACE
  return 0;
}
