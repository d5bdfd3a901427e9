// The index falls.
// expect: races=true
#include <pthread.h>
int data[50];
void *f(void *arg) {
  int *p = arg;
  *p = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  for (int i = 49; i >= 0; i--) {
    data[i] = 2;
    pthread_create(&t, 0, f, &data[i]);
  }
  return 0;
}
