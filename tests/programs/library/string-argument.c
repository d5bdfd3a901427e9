// The thread that changes the text has ended when `atoi` reads it.
// expect: races=true assertions=true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
char text[4] = "1";
static void *change(void *unused) {
  text[0] = '2';
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, change, 0);
  pthread_join(thread, 0);
  int number = atoi(text);
  assert(text[0] == '2');
  return number;
}
