// Each thread takes its index, and rounds it itself.
// expect: races=false
#include <pthread.h>
int data[50];
void *f(void *arg) {
  long i = (long)arg;
  data[i - (i & 1)] = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  for (long i = 0; i < 50; i++)
    pthread_create(&t, 0, f, (void *)i);
  return 0;
}
