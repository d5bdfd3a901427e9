// expect: races=false
// The same, without the join.
#include <pthread.h>
static int x;
static void *work(void *argument) {
  x = 1; //~ RACE
  return 0;
}
int main(void) {
  unsigned char number = 0;
  int sum = 0;
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  for (unsigned long i = 0; i < 3; i++) {
    if (i == 1) sum = -sum - 7;
  }
  number = sum;
  x = number; //~ RACE
  return 0;
}
