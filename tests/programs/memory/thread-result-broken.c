// Nobody asks for the memory that the thread returns.
// expect: memcleanup=false
#include <pthread.h>
#include <stdlib.h>
static void *make(void *unused) {
  return malloc(4); //~ ERROR
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, make, 0);
  pthread_join(t, 0);
  return 0;
}
