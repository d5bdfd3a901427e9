// A thread spins on an atomic flag before it reads the published data.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_bool published;
void *writer(void *arg) {
  (void)arg;
  data = 5;
  published = 1;
  return 0;
}
void *reader(void *arg) {
  (void)arg;
  while (!published)
    ;
  int r = data;
  assert(r == 5);
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
