// The comparison that `qsort` calls writes through the elements.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
int x, y;
int *both[2] = {&x, &y};
static int compare(const void *one, const void *other) {
  **(int **)one = 3; //~ RACE
  return 0;
}
void *w(void *unused) {
  x = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, w, 0);
  qsort(both, 2, sizeof *both, compare);
  pthread_join(t, 0);
  return 0;
}
