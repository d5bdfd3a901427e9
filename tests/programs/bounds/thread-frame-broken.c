// A thread still uses a local of a function that has returned.
// expect: bounds=false
#include <pthread.h>
static void *work(void *p) { *(int *)p = 1; return 0; } //~ ERROR
static pthread_t run(void) {
  int x = 0;
  pthread_t t;
  pthread_create(&t, 0, work, &x);
  return t;
}
int main(void) {
  pthread_join(run(), 0);
  return 0;
}
