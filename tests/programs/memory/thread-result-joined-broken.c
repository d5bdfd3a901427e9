// What the thread allocated is lost after it was joined: nothing is proved.
// todo: memtrack=false
#include <pthread.h>
#include <stdlib.h>
static void *make(void *unused) {
  return malloc(3);
}
int main(void) {
  pthread_t t;
  void *made;
  pthread_create(&t, 0, make, 0);
  pthread_join(t, &made);
  made = 0;
  return 0;
}
