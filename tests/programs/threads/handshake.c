// An atomic flag orders the write of the data before its read.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int flag;
void *writer(void *arg) {
  (void)arg;
  data = 42;
  flag = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  int r = 42;
  pthread_create(&t, 0, writer, 0);
  if (flag)
    r = data;
  assert(r == 42);
  pthread_join(t, 0);
  return 0;
}
