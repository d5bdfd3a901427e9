// A flag is set after the data.
// expect: assertions=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
_Atomic int turn;
int data;
static void *first(void *unused) {
  data = 7;
  turn = 1;
  return 0;
}
static void *second(void *unused) {
  while (turn != 1) {
  }
  assert(data == 7);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  return 0;
}
