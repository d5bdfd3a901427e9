// An address that was subtracted twice is no other one.
// expect: assertions=true races=true
#include <pthread.h>
int x, y;
void *writer(void *arg) {
  x = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  long negative = 0 - (long)&y;
  int *p = (int *)(0 - negative);
  *p = 2;
  pthread_join(t, 0);
  return 0;
}
