// A signal's handler may run in each thread, so it may interrupt one while the other one writes. When signals arrive is not known.
#include <pthread.h>
#include <signal.h>
int held;
void hold(int number) { held = 1; }
void *worker(void *unused) {
  held = 2;
  return 0;
}
int main(void) {
  pthread_t t;
  signal(SIGUSR1, hold);
  pthread_create(&t, 0, worker, 0);
  pthread_join(t, 0);
  return 0;
}
