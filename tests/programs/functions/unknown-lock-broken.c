// A function that no file defines and that is called for its result is no lock.
// expect: races=false
#include <pthread.h>
int compute(int);
int x;
void *worker(void *argument) {
  int y = compute(1);
  x += y; //~ RACE
  return argument;
}
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, worker, 0);
  int y = compute(2);
  x += y; //~ RACE
  pthread_join(id, 0);
}
