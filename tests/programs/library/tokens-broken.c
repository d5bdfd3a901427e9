// Two threads cut their own strings, but strtok keeps one place for both.
// expect: races=false
#include <pthread.h>
#include <string.h>
static void *cut(void *argument) {
  char text[] = "a b";
  strtok(text, " "); //~ RACE
  return 0;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, cut, 0);
  pthread_create(&other, 0, cut, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
