// Two counters that add each other up grow at most like Fibonacci's numbers. Nobody reads how many words the command line has, which is never negative: one number of words stands for all of them.
// expect: assertions=true
// args: --engine explicit
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int one = 1, two = 1;
static void *first(void *unused) {
  for (int round = 0; round < 3; round++)
    one += two;
  return 0;
}
static void *second(void *unused) {
  for (int round = 0; round < 3; round++)
    two += one;
  return 0;
}
int main(int argc, char **argv) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  assert(one <= 21 && two <= 21);
  return 0;
}
