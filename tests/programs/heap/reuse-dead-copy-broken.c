// A freed address may be given out again while a local that is never read again holds a copy of it: what may be given out
// must not depend on whether a search forgets such locals.
// expect: bounds=false
// args: --engine explicit
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct node { int value; };
struct node *top;
void *user(void *argument) {
  pthread_mutex_lock(&m);
  struct node *freed = malloc(sizeof *freed);
  freed->value = 2;
  free(freed);
  int late = freed->value; //~ ERROR
  pthread_mutex_unlock(&m);
  return 0;
}
void *swapper(void *argument) {
  struct node *old = top;
  free(old);
  struct node *fresh = malloc(sizeof *fresh);
  assert(fresh != old);
  top = fresh;
  return 0;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, swapper, 0);
  pthread_create(&two, 0, user, 0);
  pthread_mutex_lock(&m);
  struct node *mine = malloc(sizeof *mine);
  mine->value = 1;
  free(mine);
  pthread_mutex_unlock(&m);
  pthread_join(one, 0);
}
