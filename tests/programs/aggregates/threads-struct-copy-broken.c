// A struct copy without the lock may see half of an update.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
struct pair { int a, b; } p;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *writer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  p.a = 1; //~ RACE
  p.b = 1; //~ RACE
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  struct pair copy = p; //~ RACE
  assert(copy.a == copy.b); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
