// The pointer moves while threads run, so that two of them may use the same element.
// expect: races=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int array[8];
int *_Atomic data = array;
void *f(void *arg) {
  int i = (int)(long)arg;
  data[i] = i; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  for (int i = 0; i < 4; i++) {
    pthread_create(&t, 0, f, (void *)(long)i);
    data = array + 4 - i;
  }
  return 0;
}
