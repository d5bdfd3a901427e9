// A structure that is not used is read all the same.
// expect: races=false bounds=false
#include <pthread.h>
struct pair {
  int first, second;
} shared;
static void *run(void *arg) {
  shared.first = 1; //~ RACE
  return arg;
}
int main(void) {
  struct pair *none = 0;
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  (void)shared; //~ RACE
  pthread_join(thread, 0);
  *none; //~ ERROR
  return 0;
}
