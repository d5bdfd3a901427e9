// A thread joins those that use its local before its function returns, or exits: then the local has ended.
// expect: races=true bounds=true
#include <pthread.h>
void *use(void *arg) {
  *(int *)arg = 2;
  return 0;
}
void *give(void *arg) {
  int x = 1;
  pthread_t t;
  pthread_create(&t, 0, use, &x);
  pthread_join(t, 0);
  return arg;
}
int main(void) {
  int y = 1;
  pthread_t one, other;
  pthread_create(&one, 0, give, 0);
  pthread_create(&other, 0, use, &y);
  pthread_join(one, 0);
  pthread_join(other, 0);
  pthread_exit(0);
}
