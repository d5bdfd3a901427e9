// The main thread uses a pointer while another thread starts a third: nobody changes the pointer, whoever has been started by then.
// expect: bounds=true
// args: --engine queries
#include <pthread.h>
#include <stdatomic.h>
int cell;
atomic_int count = 1;
int *pointer = &cell;
pthread_t child;
static void *add(void *unused) {
  atomic_fetch_add(&count, 1);
  return 0;
}
static void *start(void *unused) {
  unsigned char seen = 0;
  pthread_create(&child, 0, add, 0);
  seen = count;
  pthread_join(child, 0);
  count = seen && count;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, start, 0);
  --count;
  if (pointer)
    ++*pointer;
}
