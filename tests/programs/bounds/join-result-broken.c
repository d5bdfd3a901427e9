// The result of a thread is stored in an int: it is wider.
// expect: bounds=false
#include <pthread.h>
static void *work(void *p) { return 0; }
int main(void) {
  pthread_t t;
  int r;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, (void **)&r); //~ ERROR
  return r;
}
