// The length in the name of a type is read by the cast, and it overflows.
// expect: races=false overflow=false
#include <limits.h>
#include <pthread.h>
int length = 1;
char bytes[8];
static void *use(void *arg) {
  char(*p)[] = (char(*)[length])bytes; //~ RACE
  return p ? arg : 0;
}
int main(void) {
  pthread_t thread;
  int largest = INT_MAX;
  pthread_create(&thread, 0, use, 0);
  length = 2; //~ RACE
  pthread_join(thread, 0);
  (void)(char(*)[((largest + 1) & 7) + 1]) bytes; //~ ERROR
  return 0;
}
