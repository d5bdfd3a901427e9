// The reader sees the two variables between the writes.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int a, b;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  a++; //~ RACE
  b++; //~ RACE
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  int x, y;
  pthread_create(&t, 0, f, 0);
  x = a; //~ RACE
  y = b; //~ RACE
  assert(x == y); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
