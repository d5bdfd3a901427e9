// As wrapped-start.c, but the procedure has a function of its own for those that pass none.
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
  if (!run) run = ticker;
  return pthread_create(thread, 0, run, argument);
}

int main(void) {
  pthread_t thread;
  start(&thread, ticker, 0);
  start(&thread, 0, 0);
  return 0;
}
