// A pointer to an element whose number is one for two indices.
// expect: races=false
#include <pthread.h>
int a[300];
void *worker(void *argument) {
  *(int *)argument = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  for (long i = 0; i < 8; i++)
    pthread_create(&t, 0, worker, &a[i | 1]);
  return 0;
}
