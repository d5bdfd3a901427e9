// A ring buffer for one producer and one consumer.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#define SIZE 2
int buf[SIZE];
atomic_uint head, tail;
void *producer(void *arg) {
  (void)arg;
  for (int i = 1; i <= 3; i++) {
    unsigned t = tail;
    while (t - head == SIZE)
      ;
    buf[t % SIZE] = i;
    tail = t + 1;
  }
  return 0;
}
int main(void) {
  pthread_t p;
  pthread_create(&p, 0, producer, 0);
  for (int i = 1; i <= 3; i++) {
    unsigned h = head;
    while (h == tail)
      ;
    int x = buf[h % SIZE];
    assert(x == i);
    head = h + 1;
  }
  pthread_join(p, 0);
  return 0;
}
