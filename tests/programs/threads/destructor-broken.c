// Destructors of two threads race; and one value is forgotten about.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
static pthread_key_t key;
static int freed;
static void drop(void *value) { freed = 1; } //~ RACE
static void *work(void *argument) {
  pthread_setspecific(key, &freed);
  return 0;
}
int main(void) {
  pthread_t one, other;
  pthread_key_create(&key, drop);
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  assert(freed == 0); //~ ERROR
  return 0;
}
