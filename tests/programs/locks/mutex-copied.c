// Only the value is copied, or the whole when nobody can be at the mutex.
// expect: assertions=true races=true
#include <pthread.h>
struct box {
  pthread_mutex_t m;
  int value;
} box = {PTHREAD_MUTEX_INITIALIZER, 3}, copy;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&box.m);
  pthread_mutex_unlock(&box.m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  copy.value = box.value;
  pthread_join(t, 0);
  copy = box;
  return 0;
}
