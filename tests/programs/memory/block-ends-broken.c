// A thread may use a local of a block that has ended.
// expect: deref=false
#include <pthread.h>
static void *use(void *passed) {
  ++*(int *)passed; //~ ERROR
  return 0;
}
int main(void) {
  for (int i = 0; i < 2; i++) {
    int mine = i;
    pthread_t t;
    pthread_create(&t, 0, use, &mine);
  }
  return 0;
}
