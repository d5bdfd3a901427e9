// Three names of one variable: two threads write it, by different names.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
static int hidden __asm__("visible");
extern int visible;
static int reference __attribute__((weakref("visible")));
static void *one(void *arg) {
  visible = 1; //~ RACE
  return arg;
}
static void *two(void *arg) {
  reference = 2; //~ RACE
  return arg;
}
int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, one, 0);
  pthread_create(&second, 0, two, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  assert(hidden == 0); //~ ERROR
  return 0;
}
