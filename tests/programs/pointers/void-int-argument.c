// The void pointer argument of a thread carries an integer.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
int v[3];
void *f(void *arg) {
  int id = (int)(intptr_t)arg;
  v[id] = id;
  return (void *)(intptr_t)(id + 10);
}
int main(void) {
  pthread_t a, b;
  void *r;
  pthread_create(&a, 0, f, (void *)1);
  pthread_create(&b, 0, f, (void *)(intptr_t)2);
  pthread_join(a, 0);
  pthread_join(b, &r);
  assert(v[0] == 0 && v[1] == 1 && v[2] == 2);
  assert((intptr_t)r == 12);
  return 0;
}
