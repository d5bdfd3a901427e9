// The pointer is copied once before its check.
// expect: assertions=true races=true bounds=true
#include <pthread.h>
#include <stdatomic.h>
int x;
int *_Atomic p = &x;
void *f(void *arg) { (void)arg; p = 0; return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  int *q = p;
  if (q)
    *q = 1;
  pthread_join(t, 0);
  return 0;
}
