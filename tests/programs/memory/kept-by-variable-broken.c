// Memory whose address is in a variable that is set again is lost.
// expect: memtrack=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int *first, *second;
int count;
static int *make(int size) {
  int *made = malloc(size * sizeof(int)); //~ ERROR
  for (int i = 0; i < size; i++) made[i] = __VERIFIER_nondet_int();
  return made;
}
void *run(void *argument) {
  for (int i = 0; i < count; i++) first[i] ^= second[i];
  return 0;
}
int main(void) {
  pthread_t one, two;
  count = __VERIFIER_nondet_int();
  if (count < 0 || count > 2) return 0;
  first = make(count);
  first = make(count);
  second = first;
  pthread_create(&one, 0, run, 0);
  pthread_create(&two, 0, run, 0);
  return 0;
}
