// A destructor of a thread-specific value reads the thread's id, which may be stored after the thread ends.
// expect: races=false
#include <pthread.h>
static pthread_key_t key;
static pthread_t thread, seen;
static void look(void *value) {
  seen = thread; //~ RACE
}
static void *run(void *value) {
  pthread_setspecific(key, &seen);
  return 0;
}
int main(void) {
  pthread_key_create(&key, look);
  pthread_create(&thread, 0, run, 0); //~ RACE
  pthread_join(thread, 0);
  return 0;
}
