// An index with a known range stays in the array that is a member: what lies beside it is another thread's.
// expect: races=true
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
struct {
  int before;
  int data[8];
  int after;
} s;
void *neighbour(void *arg) {
  for (int i = 0; i < 100; i++) {
    s.before++;
    s.after++;
  }
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, neighbour, 0);
  for (int i = 0; i < 8; i++)
    s.data[i] = i;
  int k = __VERIFIER_nondet_int();
  if (k >= 0 && k < 8)
    s.data[k] = 0;
  s.data[(unsigned)k % 8] = 1;
  return 0;
}
