// What is stored through a pointer of another signedness is read with the same bits.
// todo: assertions=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
unsigned counts[2];
int changes[2];
void *idle(void *arg) { return arg; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, idle, 0);
  int which = __VERIFIER_nondet_int(), i = __VERIFIER_nondet_int();
  if (i < 0 || i > 1)
    return 0;
  int *p;
  if (which)
    p = &changes[i];
  else
    p = (int *)&counts[i];
  *p = -1;
  assert(counts[i] == 0 || counts[i] == 4294967295u);
  return 0;
}
