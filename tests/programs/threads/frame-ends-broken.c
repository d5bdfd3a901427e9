// A thread gives the address of its local to others and returns, while they may still use it.
// expect: races=false
#include <pthread.h>
int *_Atomic given;
void *give(void *arg) {
  int x = 1;
  given = &x;
  return arg; //~ RACE
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, give, 0);
  int *p = given;
  if (p)
    *p = 2; //~ RACE
  pthread_join(t, 0);
  return 0;
}
