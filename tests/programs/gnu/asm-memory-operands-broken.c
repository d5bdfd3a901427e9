// The index of an operand in memory is read while another thread writes it, and it overflows.
// expect: races=false overflow=false
#include <limits.h>
#include <pthread.h>
int numbers[4], index_of;
static void *use(void *arg) {
  __asm__ volatile("" : : "m"(numbers[index_of & 3])); //~ RACE
  return arg;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, use, 0);
  index_of = 1; //~ RACE
  pthread_join(one, 0);
  int largest = INT_MAX;
  __asm__ volatile("" : : "m"(numbers[(largest + 1) & 1])); //~ ERROR
  return 0;
}
