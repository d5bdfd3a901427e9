// A function of which nothing is known keeps an address, and another one gives it back.
// todo: races=false
#include <pthread.h>

extern void keep(int *);
extern int *last(void);
static int x;

static void *worker(void *unused) {
  int *p = last();
  if (p) *p = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  keep(&x);
  pthread_create(&thread, 0, worker, 0);
  x = 1;
  pthread_join(thread, 0);
  return x;
}
