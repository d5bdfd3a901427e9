// A destructor of a thread-specific value publishes by a relaxed store, which orders nothing: they race.
// expect: races=false
// todo: assertions=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_key_t key;
static atomic_int ready;
static int data;
static void publish(void *value) {
  data = value != 0; //~ RACE
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
}
static void *writer(void *unused) {
  pthread_setspecific(key, &data);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_key_create(&key, publish);
  pthread_create(&thread, 0, writer, 0);
  if (atomic_load_explicit(&ready, memory_order_relaxed))
    assert(data == 1); //~ RACE
  return 0;
}
