// What is written out is not what the other thread changes.
// expect: races=true
// args: --engine horn
#include <pthread.h>
#include <unistd.h>
_Alignas(8) char data[16];
void *f(void *arg) {
  (void)arg;
  __atomic_store_n((int *)(data + 8), 1, __ATOMIC_SEQ_CST);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  long n = write(1, data, 8);
  pthread_join(t, 0);
  return n == 8;
}
