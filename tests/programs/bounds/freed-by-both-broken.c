// Two threads give back the same object.
// expect: bounds=false
#include <pthread.h>
#include <stdlib.h>
int *p;
void *f(void *arg) {
  (void)arg;
  free(p); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  p = malloc(sizeof *p);
  pthread_create(&t, 0, f, 0);
  free(p);
  pthread_join(t, 0);
  return 0;
}
