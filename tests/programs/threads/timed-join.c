// expect: assertions=true races=true
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
static int x;
static void *work(void *argument) {
  x = 1;
  return 0;
}
int main(void) {
  pthread_t one;
  struct timespec limit = {0, 0};
  pthread_create(&one, 0, work, 0);
  int result = pthread_timedjoin_np(one, 0, &limit);
  assert(result == 0 || result == ETIMEDOUT);
  if (result == 0) x = 2;
  return 0;
}
