// The assumption does not exclude the value one.
// expect: assertions=false races=true
#include <pthread.h>
#include <stdatomic.h>
extern void __CPROVER_assume(_Bool);
extern void __CPROVER_assert(_Bool, const char *);
atomic_int flag;
int data;
void *f(void *arg) {
  (void)arg;
  data = 1;
  flag = 1;
  flag = 2;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  int r = flag;
  __CPROVER_assume(r != 0);
  __CPROVER_assert(r + data == 3, "published"); //~ ERROR
  return 0;
}
