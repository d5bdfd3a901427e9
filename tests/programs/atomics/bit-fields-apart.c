// A bit-field of width 0 ends a memory location, whatever the type of the fields around it.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
struct flags {
  unsigned long long first : 3;
  int : 0;
  unsigned long long second : 3;
  char plain;
  unsigned third : 9;
} flags;
void *f(void *arg) {
  (void)arg;
  flags.second = 5;
  return 0;
}
void *g(void *arg) {
  (void)arg;
  flags.plain = 1;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, g, 0);
  flags.first = 6;
  flags.third = 300;
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(flags.first == 6 && flags.second == 5 && flags.plain == 1 && flags.third == 300);
  return 0;
}
