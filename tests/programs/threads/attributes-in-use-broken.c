// A thread's attributes are set by another thread while they are used to start one.
// expect: races=false
#include <pthread.h>
pthread_attr_t a;
void *set(void *arg) {
  (void)arg;
  pthread_attr_setdetachstate(&a, PTHREAD_CREATE_JOINABLE); //~ RACE
  return 0;
}
void *nothing(void *arg) { return arg; }
int main(void) {
  pthread_t t, u;
  pthread_attr_init(&a);
  pthread_create(&t, 0, set, 0);
  pthread_create(&u, &a, nothing, 0); //~ RACE
  pthread_join(u, 0);
  pthread_join(t, 0);
  return 0;
}
