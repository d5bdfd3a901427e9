// A pointer to an element whose number is a function of the index.
// expect: races=true
#include <pthread.h>
int a[300];
void *worker(void *argument) {
  *(int *)argument = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  for (long i = 0; i < 8; i++)
    pthread_create(&t, 0, worker, &a[i ^ 12]);
  return 0;
}
