// An atomic structure is read and written as a whole: by assignment, as an argument, and by the generic functions.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct pair {
  int left, right;
};
_Atomic struct pair shared;
static int balanced(struct pair pair) { return pair.left == pair.right; }
void *f(void *arg) {
  (void)arg;
  struct pair two = {2, 2};
  shared = (struct pair){1, 1};
  struct pair old = atomic_exchange(&shared, two);
  assert(balanced(old));
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  struct pair copy = shared;
  assert(balanced(copy));
  assert(balanced(shared));
  struct pair expected = atomic_load(&shared), three = {3, 3};
  atomic_compare_exchange_strong(&shared, &expected, three);
  assert(balanced(expected));
  pthread_join(t, 0);
  return 0;
}
