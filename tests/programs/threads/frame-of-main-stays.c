// `main` returns while another thread uses its local: the program ends with it, so nobody sees the local end.
// expect: races=true bounds=true
#include <pthread.h>
void *use(void *arg) {
  *(int *)arg = 2;
  return 0;
}
int main(void) {
  int x = 1;
  pthread_t t;
  pthread_create(&t, 0, use, &x);
  return 0;
}
