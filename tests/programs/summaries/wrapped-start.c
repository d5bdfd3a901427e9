// Threads are started by a procedure that gets the function as an argument, also by way of another one: there is one thread for each function.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

int ticks;
int lines;

void *ticker(void *argument) {
  ticks++;
  return 0;
}

void *printer(void *argument) {
  lines++;
  return 0;
}

int start(pthread_t *thread, void *(*run)(void *), void *argument) {
  return pthread_create(thread, 0, run, argument);
}

int start_plain(void *(*run)(void *)) {
  pthread_t thread;
  return start(&thread, run, 0);
}

int main(void) {
  pthread_t thread;
  start(&thread, ticker, 0);
  start_plain(printer);
  return 0;
}
