// What is printed is changed by atomic stores before it is printed, or after its end.
// expect: races=true
#include <pthread.h>
#include <stdio.h>
char text[4] = "a";
void *f(void *arg) {
  (void)arg;
  __atomic_store_n(&text[3], 'x', __ATOMIC_SEQ_CST);
  return 0;
}
int main(void) {
  pthread_t t;
  __atomic_store_n(&text[0], 'b', __ATOMIC_SEQ_CST);
  pthread_create(&t, 0, f, 0);
  puts(text);
  pthread_join(t, 0);
  return 0;
}
