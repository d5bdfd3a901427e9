// Memory that several threads use is freed when all but the last one were joined.
// expect: deref=false
#include <pthread.h>
#include <stdlib.h>
#define USERS 3
static void *use(void *passed) {
  int *all = passed;
  return all[0] + all[1] ? 0 : passed; //~ ERROR
}
int main(void) {
  pthread_t t[USERS];
  int *all = malloc(2 * sizeof *all);
  all[0] = all[1] = 1;
  for (int i = 0; i < USERS; i++)
    pthread_create(&t[i], 0, use, all);
  for (int i = 0; i < USERS - 1; i++)
    pthread_join(t[i], 0);
  free(all);
  return 0;
}
