// What is compared with the address of a member is a sum: the input itself is the address of another member, under a lock.
// expect: races=true
#include <pthread.h>

extern unsigned long __VERIFIER_nondet_ulong(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct { int first; int second; int third; } shared;

void *writer(void *argument) {
  unsigned long at = __VERIFIER_nondet_ulong();
  if (at + 8 == (unsigned long)&shared.third) {
    pthread_mutex_lock(&lock);
    *(int *)at = 1;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  pthread_mutex_lock(&lock);
  shared.first = 2;
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
