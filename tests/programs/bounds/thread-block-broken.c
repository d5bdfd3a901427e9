// The thread of this round uses its local in the next one.
// expect: bounds=false
#include <pthread.h>
static void *work(void *p) { *(int *)p = 1; return 0; } //~ ERROR
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) {
    int x = i;
    pthread_create(&t[i], 0, work, &x);
  }
  pthread_join(t[0], 0);
  pthread_join(t[1], 0);
  return 0;
}
