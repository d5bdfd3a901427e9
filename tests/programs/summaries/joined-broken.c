// As joined.c, but the first thread writes before it joins the other one.
// expect: races=false
#include <pthread.h>

int sum;

void step(int amount) { sum += amount; } //~ RACE

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
  step(2);
  pthread_join(thread, 0);
  return sum;
}
