// What `read` gives is at most its third argument, which may be an address.
// todo: races=false
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static int x;
static char buffer[8];

static void *worker(void *unused) {
  uintptr_t n = (uintptr_t)read(0, buffer, (size_t)&x);
  if (n > 4096) *(int *)n = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  x = 1;
  pthread_join(thread, 0);
  return x;
}
