// A byte that is stored as 1 and read as a truth value is true.
// expect: assertions=true
#include <assert.h>
#include <pthread.h>
unsigned char byte;
void *work(void *argument) {
  byte = 1;
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  _Bool *flag = (_Bool *)&byte;
  assert(*flag == 1);
  return 0;
}
