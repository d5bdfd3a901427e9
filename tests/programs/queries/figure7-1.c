// CoMuS (paper 5), Figure 7.1, with additions as one step each, as the thesis counts them: what the first thread needs of the other two is asked of the second one, and that asks the third.
// expect: assertions=true races=true
// args: --engine queries
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
_Atomic int a = 1, b = 1, c = 1;
static void *t1(void *unused) {
  for (int k1 = 0; k1 < 2; k1++) {
    __VERIFIER_atomic_begin();
    a = a + b;
    __VERIFIER_atomic_end();
  }
  assert(a <= 15);
  return unused;
}
static void *t2(void *unused) {
  for (int k2 = 0; k2 < 2; k2++) {
    __VERIFIER_atomic_begin();
    b = b + c;
    __VERIFIER_atomic_end();
  }
  return unused;
}
static void *t3(void *unused) {
  for (int k3 = 0; k3 < 2; k3++) {
    __VERIFIER_atomic_begin();
    c = c + a;
    __VERIFIER_atomic_end();
  }
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, t1, 0);
  pthread_create(&t, 0, t2, 0);
  pthread_create(&t, 0, t3, 0);
  return 0;
}
