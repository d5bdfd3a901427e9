// The structure that leads to two parts is freed before one of them.
// expect: deref=false
#include <pthread.h>
#include <stdlib.h>
struct pair {
  int *one;
  int *two;
};
static void *end(void *passed) {
  struct pair *pair = passed;
  free(pair->one);
  free(pair);
  free(pair->two); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t;
  struct pair *pair = malloc(sizeof *pair);
  pair->one = malloc(sizeof *pair->one);
  pair->two = malloc(sizeof *pair->two);
  pthread_create(&t, 0, end, pair);
  pthread_join(t, 0);
  return 0;
}
