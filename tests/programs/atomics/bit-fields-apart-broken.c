// Adjacent bit-fields are one memory location.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
struct flags {
  unsigned long long first : 3;
  unsigned long long second : 3;
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
  assert(flags.first == 6 && flags.second == 5); //~ ERROR
  return 0;
}
