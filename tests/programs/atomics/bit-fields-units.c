// A bit-field of width 0, or another member, ends a memory location (C11 3.14).
// expect: races=true assertions=true
#include <assert.h>
#include <pthread.h>
struct flags {
  int first : 31;
  int : 0;
  int second : 31;
  char between;
  int third : 31;
} flags;
void *f(void *arg) {
  (void)arg;
  flags.second = 5;
  return 0;
}
void *g(void *arg) {
  (void)arg;
  flags.third = 7;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, g, 0);
  flags.first = 6;
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(flags.first == 6 && flags.second == 5 && flags.third == 7);
  return 0;
}
