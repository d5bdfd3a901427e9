// expect: assertions=false
// A wait for the end of a thread until a time gives another number than an attempt.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
static void *work(void *argument) { return 0; }
int main(void) {
  pthread_t one;
  struct timespec limit = {0, 0};
  pthread_create(&one, 0, work, 0);
  int result = pthread_timedjoin_np(one, 0, &limit);
  assert(result != ETIMEDOUT); //~ ERROR
  return 0;
}
