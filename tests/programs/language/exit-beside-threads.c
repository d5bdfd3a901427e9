// A thread that was joined does not run beside destructors; `_exit` runs none of them.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int shared;
static void *work(void *unused) {
  shared = 1;
  return unused;
}
__attribute__((destructor)) static void check(void) { assert(shared == 1); }
int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    _exit(0);
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  return 0;
}
