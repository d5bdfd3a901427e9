// Two threads look for the first of five readings in which two sensors differ, each with its own sensor first. One of them continues where its own sensor shows less.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
int *left, *right;
int forth, back;
_Bool left_fails, right_fails;
static int difference(int a, int b) {
  if ((b > 0 && a < b - 2147483648) || (b < 0 && a > b + 2147483647))
    abort();
  return a - b;
}
static int *readings(void) {
  int *all = malloc(5 * sizeof(int));
  for (int i = 0; i < 5; i++)
    all[i] = __VERIFIER_nondet_int();
  return all;
}
static void *compare(void *unused) {
  _Bool stop = right_fails;
  forth = 1;
  for (int i = 0; i < 5 && !stop; i++) {
    forth = difference(left[i], right[i]);
    stop = forth != 0;
  }
  return 0;
}
static void *compare_back(void *unused) {
  _Bool stop = left_fails;
  back = -1;
  for (int i = 0; i < 5 && !stop; i++) {
    back = difference(right[i], left[i]);
    stop = back > 0;
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  left = readings();
  right = readings();
  left_fails = __VERIFIER_nondet_bool();
  right_fails = __VERIFIER_nondet_bool();
  if (left_fails != right_fails)
    return 0;
  pthread_create(&a, 0, compare, 0);
  pthread_create(&b, 0, compare_back, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert((forth > 0) == (back < 0)); //~ ERROR
  return 0;
}
