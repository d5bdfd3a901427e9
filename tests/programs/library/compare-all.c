// Comparing memory reads so many bytes as are asked for, and none after these.
// expect: races=true bounds=true
// args: --engine horn
#include <pthread.h>
#include <string.h>
char a[3] = {1, 2, 3}, b[3] = {3, 4, 5};
void *worker(void *unused) {
  return (void *)(long)(memcmp(a, b, 2) < 0);
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, worker, 0);
  b[2] = 1;
  pthread_join(t, 0);
  return 0;
}
