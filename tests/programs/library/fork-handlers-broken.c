// What is registered for `fork` runs in parent and child.
// todo: assertions=false
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int forks;
static void before(void) { forks++; }
int main(void) {
  pthread_atfork(before, 0, 0);
  fork();
  assert(forks == 0);
  return 0;
}
