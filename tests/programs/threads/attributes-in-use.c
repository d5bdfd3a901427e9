// Attributes may be used to start several threads by several threads; they are set before.
// expect: assertions=true races=true
#include <pthread.h>
pthread_attr_t a;
void *nothing(void *arg) { return arg; }
void *start(void *arg) {
  pthread_t t;
  pthread_create(&t, &a, nothing, arg);
  pthread_join(t, 0);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_attr_init(&a);
  pthread_attr_setdetachstate(&a, PTHREAD_CREATE_JOINABLE);
  pthread_create(&t, &a, start, 0);
  pthread_create(&u, &a, nothing, 0);
  pthread_join(u, 0);
  pthread_join(t, 0);
  pthread_attr_destroy(&a);
  return 0;
}
