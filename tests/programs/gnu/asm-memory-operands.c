// Addresses of operands in memory are computed, also where the template does nothing with them.
// expect: assertions=true races=true overflow=true
#include <assert.h>
#include <pthread.h>
struct pair {
  int first, second;
};
struct pair pairs[4];
int numbers[4], other;
static void *use(void *arg) {
  int i = 0;
  __asm__ volatile("" : : "m"(numbers[i++]));
  __asm__ volatile("" : : "m"(pairs[i++]));
  __asm__ volatile("" : "+r"(numbers[i++]));
  assert(i == 3);
  return arg;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, use, 0);
  other = 1;
  pthread_join(one, 0);
  return 0;
}
