// A block local of another thread, whose address is kept: it overflows.
// expect: overflow=false
#include <pthread.h>
int *kept;
void *count(void *argument) {
  { int local = 2147483647; kept = &local; local++; } //~ ERROR
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, count, 0);
  pthread_join(thread, 0);
  return 0;
}
