// Two threads set the variable.
// expect: memtrack=false
#include <pthread.h>
#include <stdlib.h>
char *text;
void *run(void *argument) {
  text = malloc(3); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, run, 0);
  pthread_create(&two, 0, run, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
