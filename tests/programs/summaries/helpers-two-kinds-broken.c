// Like helpers.c, but a thread starts helpers of two kinds, and joins those of one.
// expect: races=false
#include <pthread.h>

static void *look(void *argument) {
  int *count = argument;
  return *count ? argument : 0;
}

static void *look_again(void *argument) {
  int *count = argument;
  return *count ? argument : 0; //~ RACE
}

static void *work(void *unused) {
  int count = 1;
  pthread_t one, two;
  pthread_create(&one, 0, look, &count);
  pthread_create(&two, 0, look_again, &count);
  pthread_join(one, 0);
  count = 0; //~ RACE
  pthread_join(two, 0);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  return 0;
}
