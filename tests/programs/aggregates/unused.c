// Structures that are read and not used.
// expect: races=true bounds=true
#include <pthread.h>
struct pair {
  int first, second;
} shared, other;
static void *run(void *arg) {
  shared.first = 1;
  return arg;
}
int main(void) {
  struct pair *all = &other;
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  other;
  (void)*all;
  (void)sizeof shared;
  (void)&shared;
  pthread_join(thread, 0);
  (void)shared;
  return 0;
}
