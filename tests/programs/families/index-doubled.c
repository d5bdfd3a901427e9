// Each thread has two elements of its own.
// expect: races=true
#include <pthread.h>
int data[100];
void *f(void *arg) {
  long i = (long)arg;
  data[2 * i] = 1;
  data[2 * i + 1] = 2;
  return 0;
}
int main(void) {
  pthread_t t;
  for (long i = 0; i < 50; i++)
    pthread_create(&t, 0, f, (void *)i);
  return 0;
}
