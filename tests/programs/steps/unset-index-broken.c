// The content of new memory is any: so is the element that it names.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int a[256];
unsigned char *index;
void *f(void *arg) {
  (void)arg;
  a[7] = 2; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  index = malloc(1);
  if (!index)
    return 0;
  pthread_create(&t, 0, f, 0);
  __VERIFIER_atomic_begin();
  a[*index] = 1; //~ RACE
  __VERIFIER_atomic_end();
  return 0;
}
