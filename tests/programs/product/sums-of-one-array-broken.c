// The second thread leaves the first number out.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
unsigned *numbers;
unsigned first, second;
int n;
static void *one(void *unused) {
  for (int i = 0; i < n; i++) first += numbers[i];
  return 0;
}
static void *two(void *unused) {
  for (int j = 1; j < n; j++) second += numbers[j];
  return 0;
}
int main(void) {
  pthread_t a, b;
  n = __VERIFIER_nondet_int();
  if (n < 1 || n > 1000) return 0;
  numbers = malloc(sizeof(unsigned) * n);
  if (!numbers) return 0;
  for (int i = 0; i < n; i++) numbers[i] = (unsigned)__VERIFIER_nondet_int();
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(first == second);
  return 0;
}
