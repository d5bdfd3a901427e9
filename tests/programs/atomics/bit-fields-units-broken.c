// Adjacent bit-fields are one memory location also where compilers keep them in two storage units (C11 3.14).
// expect: races=false
#include <pthread.h>
struct flags {
  int first : 31;
  int second : 31;
} flags;
void *f(void *arg) {
  (void)arg;
  flags.second = 5; //~ RACE
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, f, 0);
  flags.first = 6; //~ RACE
  pthread_join(a, 0);
  return 0;
}
