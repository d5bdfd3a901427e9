// The same for the operand of a comma, and for the value of a statement expression.
// expect: races=false
#include <pthread.h>
static struct pair {
  int first, second;
} shared;
static void *writer(void *unused) {
  shared.second = 1; //~ RACE
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  int first = ({ shared; }).first; //~ RACE
  pthread_join(thread, 0);
  return first + (0, shared).second;
}
