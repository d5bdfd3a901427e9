// An operand in a register is read before the template and written back after it: both are done under the lock.
// expect: assertions=true races=true bounds=true overflow=true
#include <assert.h>
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x;
static void *add(void *arg) {
  pthread_mutex_lock(&lock);
  __asm__ volatile("" : "+r"(x));
  x++;
  pthread_mutex_unlock(&lock);
  return arg;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, add, 0);
  pthread_create(&two, 0, add, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(x == 2);
  int left = 1, right = 2;
  __asm__("" : "=r"(left), "=r"(right) : "0"(right), "1"(left));
  assert(left == 2 && right == 1);
  return 0;
}
