// The thread continues after main has exited.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
pthread_t main_thread;
int x;
void *f(void *arg) {
  (void)arg;
  pthread_join(main_thread, 0);
  assert(x == 0); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  main_thread = pthread_self();
  pthread_create(&t, 0, f, 0);
  x = 1;
  pthread_exit(0);
}
