// After this seed, the first number is another one.
// expect: races=true
#include <pthread.h>
#include <stdlib.h>
static int shared;
static void *worker(void *unused) {
  shared = 1;
  return 0;
}
int main(void) {
  pthread_t one;
  srand48(1);
  if (lrand48() == 7) {
    pthread_create(&one, 0, worker, 0);
    shared = 2;
  }
  return 0;
}
