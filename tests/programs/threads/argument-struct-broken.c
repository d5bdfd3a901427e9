// Both threads get the same argument struct.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
struct job { int in, out; };
void *f(void *arg) {
  struct job *j = arg;
  j->out = j->in * 2; //~ RACE
  j->in = 0; //~ RACE
  return 0;
}
int main(void) {
  struct job a = {3, 0}, b = {4, 0};
  pthread_t t, u;
  pthread_create(&t, 0, f, &a);
  pthread_create(&u, 0, f, &a);
  pthread_join(t, 0);
  pthread_join(u, 0);
  assert(a.out == 6); //~ ERROR
  return 0;
}
