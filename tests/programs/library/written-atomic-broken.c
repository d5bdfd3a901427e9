// What is written out is read by plain accesses: atomic stores race with them.
// expect: races=false
#include <pthread.h>
#include <unistd.h>
_Alignas(8) char data[8];
void *f(void *arg) {
  (void)arg;
  __atomic_store_n((int *)data, 1, __ATOMIC_SEQ_CST); //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  long n = write(1, data, 8); //~ RACE
  pthread_join(t, 0);
  return n == 8;
}
