// The index falls, and the parent writes the element of the thread before.
// expect: races=false
#include <pthread.h>
int data[50];
void *f(void *arg) {
  int *p = arg;
  *p = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  for (int i = 48; i >= 0; i--) {
    data[i + 1] = 2; //~ RACE
    pthread_create(&t, 0, f, &data[i]);
  }
  return 0;
}
