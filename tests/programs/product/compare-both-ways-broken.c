// The second thread compares days the same way round as the first.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int year_a, month_a, day_a, hour_a, year_b, month_b, day_b, hour_b;
int forth, back;
static int order(int one, int other) { return one < other ? -1 : (one > other ? 1 : 0); }
static void *compare(void *unused) {
  forth = order(year_a, year_b);
  if (forth == 0) forth = order(month_a, month_b);
  if (forth == 0) forth = order(day_a, day_b);
  if (forth == 0) forth = order(hour_a, hour_b);
  return 0;
}
static void *compare_back(void *unused) {
  back = order(year_b, year_a);
  if (back == 0) back = order(month_b, month_a);
  if (back == 0) back = order(day_a, day_b);
  if (back == 0) back = order(hour_b, hour_a);
  return 0;
}
int main(void) {
  pthread_t a, b;
  year_a = __VERIFIER_nondet_int();
  month_a = __VERIFIER_nondet_int();
  day_a = __VERIFIER_nondet_int();
  hour_a = __VERIFIER_nondet_int();
  year_b = __VERIFIER_nondet_int();
  month_b = __VERIFIER_nondet_int();
  day_b = __VERIFIER_nondet_int();
  hour_b = __VERIFIER_nondet_int();
  pthread_create(&a, 0, compare, 0);
  pthread_create(&b, 0, compare_back, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(forth == -back); //~ ERROR
  return 0;
}
