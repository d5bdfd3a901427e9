// An array of a size that is not known, which threads read and write by an index below that size.
// expect: deref=true
// args: --engine horn
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
_Atomic int *numbers;
int count;
void *fill(void *argument) {
  for (int i = 0; i < count; i++) numbers[i] = i;
  return 0;
}
void *read(void *argument) {
  int sum = 0;
  for (int i = count - 1; i >= 0; i--) sum ^= numbers[i];
  return 0;
}
int main(void) {
  pthread_t one, other;
  count = __VERIFIER_nondet_int();
  if (count < 0 || count > 100) return 0;
  numbers = malloc(sizeof(int) * count);
  pthread_create(&one, 0, fill, 0);
  pthread_create(&other, 0, read, 0);
  return 0;
}
