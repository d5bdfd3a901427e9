// As wrapped-start.c, but one function is passed twice.
// expect: races=false
#include <pthread.h>

int ticks;
int lines;

void *ticker(void *argument) {
  ticks++; //~ RACE
  return 0;
}

void *printer(void *argument) {
  lines++;
  return 0;
}

int start(pthread_t *thread, void *(*run)(void *), void *argument) {
  return pthread_create(thread, 0, run, argument);
}

int main(void) {
  pthread_t thread;
  start(&thread, ticker, 0);
  start(&thread, printer, 0);
  start(&thread, ticker, 0);
  return 0;
}
