// expect: races=false
// `exit` reads what it is passed.
#include <pthread.h>
#include <stdlib.h>
int x;
void *w(void *p) {
  x = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, w, 0);
  exit(x); //~ RACE
}
