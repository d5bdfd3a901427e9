// Indices are cut to eight bits: the 257th thread has the element of the first.
// expect: races=false
#include <pthread.h>
int a[256];
void *w(void *index) {
  a[(unsigned char)(long)index] = 1; //~ RACE
  return 0;
}
int main(void) {
  for (long i = 0; i < 270; i++) {
    pthread_t t;
    pthread_create(&t, 0, w, (void *)i);
  }
  return 0;
}
