// As wrapped-start.c, but the procedure starts what it gets twice.
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
  for (int i = 0; i < 2; i++) pthread_create(thread, 0, run, argument);
  return 0;
}

int main(void) {
  pthread_t thread;
  start(&thread, ticker, 0);
  return 0;
}
