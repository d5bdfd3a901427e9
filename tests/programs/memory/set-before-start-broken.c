// Three threads read parts of an array. One part begins elsewhere after they have started.
// expect: deref=false
// not reproduced: the sanitizer does not see reads just before allocated memory
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int *numbers;
int count, half;
_Atomic int sum;
void *first(void *argument) {
  for (int i = 0; i < half; i++) sum ^= numbers[i];
  return 0;
}
void *second(void *argument) {
  for (int i = half; i < count; i++) sum ^= numbers[i]; //~ ERROR
  return 0;
}
void *all(void *argument) {
  for (int i = 0; i < count; i++) sum ^= numbers[i];
  return 0;
}
int main(void) {
  pthread_t one, two, three;
  count = __VERIFIER_nondet_int();
  half = __VERIFIER_nondet_int();
  if (count < 0 || count > 2 || half < 0 || half > count) return 0;
  numbers = calloc(count, sizeof(int));
  pthread_create(&one, 0, first, 0);
  pthread_create(&two, 0, second, 0);
  pthread_create(&three, 0, all, 0);
  half = -1;
  return 0;
}
