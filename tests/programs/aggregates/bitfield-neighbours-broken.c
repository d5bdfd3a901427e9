// Two adjacent bit-fields are one memory location, so the writes race.
// expect: assertions=true races=false
#include <pthread.h>
struct flags {
  unsigned int a : 4;
  unsigned int b : 4;
} s;
void *f(void *arg) { (void)arg; s.a = 1; return 0; } //~ RACE
void *g(void *arg) { (void)arg; s.b = 2; return 0; } //~ RACE
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
