// `atoi` reads the text while another thread changes it.
// expect: races=false assertions=true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
char text[4] = "1";
static void *change(void *unused) {
  text[0] = '2'; //~ ERROR
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, change, 0);
  int number = atoi(text); //~ ERROR
  pthread_join(thread, 0);
  assert(text[0] == '2');
  return number;
}
