// A volatile variable does not prevent a race.
// expect: assertions=true races=false
#include <pthread.h>
volatile int x;
void *f(void *arg) { (void)arg; x = 1; return 0; } //~ RACE
int main(void) {
  pthread_t t;
  int r = 0;
  pthread_create(&t, 0, f, 0);
  r = x; //~ RACE
  pthread_join(t, 0);
  return r;
}
