// A compiler barrier does not order two threads.
// expect: assertions=true races=false
#include <pthread.h>
int data;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *f(void *arg) {
  (void)arg;
  __asm__ volatile("" ::: "memory");
  data++; //~ RACE
  asm volatile("" : : : "memory");
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
