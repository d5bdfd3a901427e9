// Two threads take from a queue, at a front that both move: one may do so after the other one has looked at it.
// expect: deref=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int *queue;
int count, front, limit;
_Atomic int sum, back;
void *take(void *argument) {
  while (back > 0) {
    if (front >= count) return 0;
    sum ^= queue[front]; //~ ERROR
    front++;
  }
  return 0;
}
void *look(void *argument) {
  for (int i = 0; i < limit; i++) {
    sum ^= queue[i];
    back++;
  }
  return 0;
}
int main(void) {
  pthread_t one, two, three;
  count = __VERIFIER_nondet_int();
  if (count < 0 || count > 2) return 0;
  queue = calloc(count, sizeof(int));
  front = 0;
  pthread_create(&one, 0, take, 0);
  limit = count;
  pthread_create(&two, 0, look, 0);
  pthread_create(&three, 0, take, 0);
  return 0;
}
