// A member of an lvalue is read alone.
// expect: races=true
#include <pthread.h>
static struct pair {
  int first, second;
} one, other;
static void *writer(void *unused) {
  one.second = 1;
  return unused;
}
int main(int count, char **texts) {
  (void)texts;
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  int first = (*(count ? &one : &other)).first;
  pthread_join(thread, 0);
  return first + (count ? one : other).second;
}
