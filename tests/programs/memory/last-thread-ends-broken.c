// The first thread ends by `pthread_exit`; the other one forgets the memory, and the program ends with it.
// expect: memtrack=false memcleanup=false
#include <pthread.h>
#include <stdlib.h>
int *shared;
static void *drop(void *unused) {
  shared = 0;
  return 0;
}
int main(void) {
  pthread_t t;
  shared = malloc(4); //~ ERROR
  pthread_create(&t, 0, drop, 0);
  pthread_exit(0);
}
