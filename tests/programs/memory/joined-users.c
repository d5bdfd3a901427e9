// Memory that several threads use is freed after all of them were joined.
// expect: deref=true free=true memtrack=true memcleanup=true
#include <pthread.h>
#include <stdlib.h>
#define USERS 3
static void *use(void *passed) {
  int *all = passed;
  return all[0] + all[1] ? 0 : passed;
}
int main(void) {
  pthread_t t[USERS];
  int *all = malloc(2 * sizeof *all);
  all[0] = all[1] = 1;
  for (int i = 0; i < USERS; i++)
    pthread_create(&t[i], 0, use, all);
  for (int i = 0; i < USERS; i++)
    pthread_join(t[i], 0);
  free(all);
  return 0;
}
