// An address that was subtracted twice is that address.
// expect: assertions=true races=false
#include <pthread.h>
int x, y;
void *writer(void *arg) {
  x = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  long negative = 0 - (long)&x;
  int *p = (int *)(0 - negative);
  *p = 2; //~ RACE
  pthread_join(t, 0);
  return 0;
}
