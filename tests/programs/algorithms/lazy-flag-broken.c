// The thread checks the flag but does not wait for it.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_bool published;
void *writer(void *arg) {
  (void)arg;
  data = 5; //~ RACE
  published = 1;
  return 0;
}
void *reader(void *arg) {
  (void)arg;
  (void)published;
  int r = data; //~ RACE
  assert(r == 5); //~ ERROR
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, writer, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
