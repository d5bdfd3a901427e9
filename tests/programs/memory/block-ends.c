// A thread uses a local of a block of its creator, which joins it before the block ends.
// expect: deref=true
#include <pthread.h>
static void *use(void *passed) {
  ++*(int *)passed;
  return 0;
}
int main(void) {
  for (int i = 0; i < 2; i++) {
    int mine = i;
    pthread_t t;
    pthread_create(&t, 0, use, &mine);
    pthread_join(t, 0);
  }
  return 0;
}
