// A pointer is set on all branches before it is followed.
// expect: deref=true
#include <pthread.h>
static int x, y;
static void *use(void *choice) {
  int *p;
  if (choice)
    p = &x;
  else
    p = &y;
  return *p ? 0 : choice;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, use, &x);
  pthread_create(&u, 0, use, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
