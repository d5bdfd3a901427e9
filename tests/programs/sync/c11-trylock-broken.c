// The write happens although mtx_trylock says thrd_busy.
// expect: assertions=true races=false
#include <threads.h>
mtx_t m;
int n;
int f(void *arg) {
  (void)arg;
  if (mtx_trylock(&m) != thrd_success) {
    n++; //~ RACE
  }
  return 0;
}
int main(void) {
  thrd_t a;
  mtx_init(&m, mtx_plain);
  thrd_create(&a, f, NULL);
  mtx_lock(&m);
  n++; //~ RACE
  mtx_unlock(&m);
  thrd_join(a, NULL);
  return 0;
}
