// A pointer walks over a whole structure, before another thread starts.
// expect: assertions=true races=true
#include <pthread.h>
struct message {
  int kind;
  int body[3];
  int sum;
} m;
void *reader(void *arg) { return (void *)(long)m.sum; }
int main(void) {
  pthread_t t;
  int *p = &m.kind, *end = (int *)(&m + 1);
  while (p != end)
    *p++ = 0;
  pthread_create(&t, 0, reader, 0);
  pthread_join(t, 0);
  return 0;
}
