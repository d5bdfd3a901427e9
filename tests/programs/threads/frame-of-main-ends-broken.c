// `main` exits as a thread while another one uses its local: the local ends there.
// expect: races=false
#include <pthread.h>
void *use(void *arg) {
  *(int *)arg = 2; //~ RACE
  return 0;
}
int main(void) {
  int x = 1;
  pthread_t t;
  pthread_create(&t, 0, use, &x);
  pthread_exit(0); //~ RACE
}
