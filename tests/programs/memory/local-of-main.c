// A variable of main lives until the program ends, whoever has its address and whether or not it is joined.
// expect: deref=true races=true
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *increase(void *argument) {
  int *number = argument;
  pthread_mutex_lock(&lock);
  (*number)++;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t id;
  int number = __VERIFIER_nondet_int() & 1023;
  pthread_create(&id, 0, increase, &number);
  pthread_mutex_lock(&lock);
  number++;
  pthread_mutex_unlock(&lock);
  return 0;
}
