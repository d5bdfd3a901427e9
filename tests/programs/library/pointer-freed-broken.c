// The condition variable is in memory that was given back.
// expect: bounds=false races=true
#include <pthread.h>
#include <stdlib.h>
int main(void) {
  pthread_cond_t *condition = malloc(sizeof *condition);
  pthread_cond_init(condition, 0);
  free(condition);
  pthread_cond_signal(condition); //~ ERROR
  return 0;
}
