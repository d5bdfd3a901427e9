// As number-from-text.c, but the pointer that the thread gets is used as well.
// expect: races=false
#include <pthread.h>
#include <stdio.h>

static int x;
static int cells[4];

static void *worker(void *pointer) {
  unsigned long n = 0;
  *(int *)pointer = 2; //~ RACE
  if (sscanf("3", "%lu", &n) == 1 && n < 4) cells[n] = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  int *p = &x;
  pthread_create(&thread, 0, worker, p);
  *p = 1; //~ RACE
  pthread_join(thread, 0);
  return cells[0] + x;
}
