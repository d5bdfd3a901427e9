// As wrapped-start.c, but the caller that passes the function is called twice.
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

void begin(void) {
  pthread_t thread;
  start(&thread, ticker, 0);
}

int main(void) {
  begin();
  begin();
  return 0;
}
