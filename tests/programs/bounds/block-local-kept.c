// A block local of another thread, whose address is kept: what is known of it is about that thread's own.
// expect: overflow=true bounds=true
#include <pthread.h>
int *kept;
void *count(void *argument) {
  { int local = 3; kept = &local; local++; }
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, count, 0);
  pthread_join(thread, 0);
  return 0;
}
