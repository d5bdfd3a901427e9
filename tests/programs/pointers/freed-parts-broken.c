// All parts of two addresses are equal where the second object has got the place of the first one, which was
// freed.
// todo: races=false
#include <pthread.h>
#include <stdlib.h>

static void *work(void *mine) {
  *(int *)mine = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  int *first = malloc(4);
  unsigned long old = (unsigned long)first;
  free(first);
  int *second = malloc(4);
  pthread_create(&thread, 0, work, second);
  unsigned long new = (unsigned long)second;
  if ((int)old == (int)new && old >> 32 == new >> 32)
    *(int *)old = 2;
  pthread_join(thread, 0);
  return 0;
}
