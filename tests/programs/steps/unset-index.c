// The content of new memory is any, but the element that it names is none that others touch.
// expect: races=true
#include <pthread.h>
#include <stdlib.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int a[257];
unsigned char *index;
void *f(void *arg) {
  (void)arg;
  a[256] = 2;
  return 0;
}
int main(void) {
  pthread_t t;
  index = malloc(1);
  if (!index)
    return 0;
  pthread_create(&t, 0, f, 0);
  __VERIFIER_atomic_begin();
  a[*index] = 1;
  __VERIFIER_atomic_end();
  return 0;
}
