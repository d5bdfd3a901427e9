// Two threads share a heap counter with the mutex stored next to it.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct box { pthread_mutex_t m; int n; };
void *f(void *arg) {
  struct box *b = arg;
  pthread_mutex_lock(&b->m);
  b->n++;
  pthread_mutex_unlock(&b->m);
  return 0;
}
int main(void) {
  struct box *b = malloc(sizeof *b);
  pthread_t t;
  pthread_mutex_init(&b->m, NULL);
  b->n = 0;
  pthread_create(&t, 0, f, b);
  pthread_mutex_lock(&b->m);
  b->n++;
  pthread_mutex_unlock(&b->m);
  pthread_join(t, 0);
  assert(b->n == 2);
  free(b);
  return 0;
}
