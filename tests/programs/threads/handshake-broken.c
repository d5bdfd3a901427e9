// The flag is set before the data is written.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int flag;
void *writer(void *arg) {
  (void)arg;
  flag = 1;
  data = 42; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  int r = 42;
  pthread_create(&t, 0, writer, 0);
  if (flag)
    r = data; //~ RACE
  assert(r == 42); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
