// The second element of each thread is the first one of the next.
// expect: races=false
#include <pthread.h>
int data[102];
void *f(void *arg) {
  long i = (long)arg;
  data[2 * i] = 1; //~ RACE
  data[2 * i + 2] = 2; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  for (long i = 0; i < 50; i++)
    pthread_create(&t, 0, f, (void *)i);
  return 0;
}
