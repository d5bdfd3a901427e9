// The thread is not the main thread.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
pthread_t main_thread;
void *f(void *arg) {
  (void)arg;
  assert(pthread_equal(pthread_self(), main_thread)); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  main_thread = pthread_self();
  assert(pthread_equal(main_thread, pthread_self()));
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  return 0;
}
