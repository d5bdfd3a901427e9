// A function waits for the thread that has the address of its local.
// expect: bounds=true
#include <pthread.h>
static void *work(void *p) { *(int *)p = 1; return 0; }
static int run(void) {
  int x = 0;
  pthread_t t;
  pthread_create(&t, 0, work, &x);
  pthread_join(t, 0);
  return x;
}
int main(void) { return run() + run(); }
