// A number that is read from a text is no address: it reaches the array that it is an index of, and nothing else.
// expect: races=true
#include <pthread.h>
#include <stdio.h>

static int x;
static int cells[4];

static void *worker(void *unused) {
  unsigned long n = 0;
  if (sscanf("3", "%lu", &n) == 1 && n < 4) cells[n] = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  int *p = &x;
  pthread_create(&thread, 0, worker, 0);
  *p = 1;
  pthread_join(thread, 0);
  return cells[0] + x;
}
