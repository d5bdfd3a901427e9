// expect: races=true
// args: --engine summaries
// A local that counts nothing has any value of its type: no thread's number is below 0 or above it.
#include <pthread.h>
static int x;
static void *work(void *argument) {
  x = 1;
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
  pthread_join(thread, 0);
  x = number;
  return 0;
}
