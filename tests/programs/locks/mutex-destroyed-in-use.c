// The last one to give up an object with a mutex destroys it: all others have given the mutex back.
// expect: assertions=true races=true
#include <pthread.h>
#include <stdlib.h>
struct shared {
  pthread_mutex_t m;
  int users;
};
static void leave(struct shared *s) {
  pthread_mutex_lock(&s->m);
  int left = --s->users;
  pthread_mutex_unlock(&s->m);
  if (left == 0)
    pthread_mutex_destroy(&s->m);
}
struct shared s = {PTHREAD_MUTEX_INITIALIZER, 2};
void *f(void *arg) {
  (void)arg;
  leave(&s);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  leave(&s);
  pthread_join(t, 0);
  return 0;
}
