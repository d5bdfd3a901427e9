// The handler of a thread that exits sets what the first thread sets, too.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
static int state;
static void note(void *argument) { state = 2; } //~ RACE
static void *work(void *argument) {
  pthread_cleanup_push(note, 0);
  pthread_exit(0);
  pthread_cleanup_pop(0);
  return 0;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, work, 0);
  state = 1; //~ RACE
  pthread_join(one, 0);
  assert(state == 1); //~ ERROR
  return 0;
}
