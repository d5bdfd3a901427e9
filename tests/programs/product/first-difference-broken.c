// The second thread looks at three places only.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int left[4], right[4];
int found, found_too;
static void *look(void *unused) {
  for (int i = 0; i < 4; i++)
    if (left[i] != right[i]) {
      found = left[i] < right[i] ? -1 : 1;
      break;
    }
  return 0;
}
static void *look_too(void *unused) {
  for (int i = 0; i < 3; i++)
    if (right[i] != left[i]) {
      found_too = right[i] < left[i] ? -1 : 1;
      break;
    }
  return 0;
}
int main(void) {
  pthread_t a, b;
  for (int i = 0; i < 4; i++) {
    left[i] = __VERIFIER_nondet_int();
    right[i] = __VERIFIER_nondet_int();
  }
  pthread_create(&a, 0, look, 0);
  pthread_create(&b, 0, look_too, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(found == -found_too); //~ ERROR
  return 0;
}
