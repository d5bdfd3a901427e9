// A structure is copied with the mutex in it, which another thread may take.
// expect: races=false
#include <pthread.h>
struct box {
  pthread_mutex_t m;
  int value;
} box = {PTHREAD_MUTEX_INITIALIZER, 3}, copy;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&box.m); //~ RACE
  pthread_mutex_unlock(&box.m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  copy = box; //~ RACE
  pthread_join(t, 0);
  return 0;
}
