// A pointer that is moved step by step leaves the array in the middle of a structure; another thread uses what lies after it.
// expect: assertions=true races=false
#include <pthread.h>
struct message {
  int kind;
  int body[3];
  int sum;
} m;
void *reader(void *arg) { return (void *)(long)m.sum; } //~ RACE
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, reader, 0);
  int *p = &m.kind, *end = (int *)(&m + 1);
  while (p != end)
    *p++ = 0; //~ RACE
  pthread_join(t, 0);
  return 0;
}
