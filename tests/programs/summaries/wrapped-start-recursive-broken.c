// As wrapped-start.c, but the procedure calls itself with what it gets.
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

int start(pthread_t *thread, void *(*run)(void *), int more) {
  pthread_create(thread, 0, run, 0);
  if (more) start(thread, run, 0);
  return 0;
}

int main(void) {
  pthread_t thread;
  start(&thread, ticker, 1);
  return 0;
}
