// The thread sets the flag to one, not to zero.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int flag;
static void *f(void *arg) { *(int *)arg = 1; return arg; }
int main(void) {
  pthread_t t;
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  if (pthread_create(&t, &attr, &f, &flag) != 0)
    abort();
  pthread_attr_destroy(&attr);
  if (pthread_join(t, NULL))
    abort();
  assert(flag == 0); //~ ERROR
  return 0;
}
