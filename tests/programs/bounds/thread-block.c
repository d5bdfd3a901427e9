// The loop waits for each thread in the same round.
// expect: bounds=true
#include <pthread.h>
static void *work(void *p) { return *(int *)p ? p : 0; }
int main(void) {
  for (int i = 0; i < 2; i++) {
    int x = i;
    pthread_t t;
    pthread_create(&t, 0, work, &x);
    pthread_join(t, 0);
  }
  return 0;
}
