// Another thread clears the pointer between its check and its use.
// expect: assertions=true races=true bounds=false
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
    *p = 1; //~ ERROR
  pthread_join(t, 0);
  return 0;
}
