// Two counters that add each other up reach Fibonacci's numbers. The bound depends on how many words the command line has: with none at all it is too low.
// expect: assertions=false
// not reproduced: systems start programs with at least one word on the command line
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
  int most = argc < 1 ? 20 : 21;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  assert(one <= most && two <= most); //~ ERROR
  return 0;
}
