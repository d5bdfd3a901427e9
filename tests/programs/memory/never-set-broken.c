// A pointer is set on one branch only.
// expect: deref=false
#include <pthread.h>
static int x;
static void *use(void *choice) {
  int *p;
  if (choice)
    p = &x;
  return *p ? 0 : choice; //~ ERROR
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, use, &x);
  pthread_create(&u, 0, use, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
