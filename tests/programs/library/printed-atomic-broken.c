// What is printed is read by plain accesses: atomic stores race with them.
// expect: races=false
#include <pthread.h>
#include <stdio.h>
char text[4] = "ab";
void *f(void *arg) {
  (void)arg;
  __atomic_store_n(&text[1], 'x', __ATOMIC_SEQ_CST); //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  puts(text); //~ RACE
  pthread_join(t, 0);
  return 0;
}
