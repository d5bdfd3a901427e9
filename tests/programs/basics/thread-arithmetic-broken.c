// Two increments of 200 wrap an unsigned char to 144.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
unsigned char c;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  c += 200;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(c == 400 - 256 + 1); //~ ERROR
  return 0;
}
