// Two threads get the same element: the index is rounded.
// expect: races=false
#include <pthread.h>
int data[50];
void *f(void *arg) {
  *(int *)arg = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  for (int i = 0; i < 50; i++)
    pthread_create(&t, 0, f, &data[i - i % 2]);
  return 0;
}
