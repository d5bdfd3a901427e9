// Two threads write to the same far place of a large array; one byte after the end of a large allocation there is nothing.
// expect: races=false bounds=false
#include <pthread.h>
#include <stdlib.h>
static int table[1 << 26];
static void *worker(void *unused) {
  table[1 << 25] = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  char *allocated = malloc(1UL << 32);
  allocated[1UL << 32] = 1; //~ ERROR
  free(allocated);
  return 0;
}
