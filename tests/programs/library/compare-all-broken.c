// Comparing memory may read all of it, also after the first difference: here it races with the second byte.
// expect: races=false
#include <pthread.h>
#include <string.h>
char a[2] = {1, 2}, b[2] = {3, 4};
void *worker(void *unused) {
  return (void *)(long)(memcmp(a, b, 2) < 0); //~ RACE
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, worker, 0);
  b[1] = 1; //~ RACE
  pthread_join(t, 0);
  return 0;
}
