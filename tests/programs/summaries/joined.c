// Read by the first thread when the only other one was joined, by the id in a variable; no lock is needed.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

int sum;

void step(int amount) { sum += amount; }

void *worker(void *argument) {
  (void)argument;
  step(1);
  return 0;
}

pthread_t start(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  return thread;
}

int main(void) {
  step(1);
  pthread_t thread = start();
  pthread_join(thread, 0);
  step(2);
  return sum;
}
