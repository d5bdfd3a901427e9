// pthread_once runs the initialiser once and everybody waits for it.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
pthread_once_t once = PTHREAD_ONCE_INIT;
int ready, inits;
void init(void) {
  inits++;
  ready = 1;
}
void *f(void *arg) {
  (void)arg;
  pthread_once(&once, init);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(inits == 1);
  return 0;
}
