// Lamport's bakery algorithm for two threads.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
atomic_int choosing[2], number[2];
int n;
void *f(void *arg) {
  int i = (int)(intptr_t)arg, j = 1 - i;
  choosing[i] = 1;
  int other = number[j];
  number[i] = other + 1;
  choosing[i] = 0;
  while (choosing[j])
    ;
  while (1) {
    int theirs = number[j];
    if (theirs == 0)
      break;
    int mine = number[i];
    if (mine < theirs || (mine == theirs && i < j))
      break;
  }
  n++;
  number[i] = 0;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, (void *)0);
  pthread_create(&b, 0, f, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2);
  return 0;
}
