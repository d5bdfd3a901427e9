// pthread_join delivers the return value of the thread.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
void *f(void *arg) { (void)arg; return (void *)7; }
int main(void) {
  pthread_t t;
  void *r = 0;
  pthread_create(&t, 0, f, 0);
  pthread_join(t, &r);
  assert(r == (void *)7);
  return 0;
}
