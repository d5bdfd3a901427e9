// The value of a conditional operator is a whole structure, so all of it is read (C11 6.3.2.1p2).
// expect: races=false
#include <pthread.h>
static struct pair {
  int first, second;
} one, other;
static void *writer(void *unused) {
  one.second = 1; //~ RACE
  return unused;
}
int main(int count, char **texts) {
  (void)texts;
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  int first = (count ? one : other).first; //~ RACE
  pthread_join(thread, 0);
  return first;
}
