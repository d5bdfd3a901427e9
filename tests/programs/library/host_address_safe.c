// The addresses that gethostbyname gives have four bytes, or sixteen: nothing else happens.
// expect: races=true
#include <netdb.h>
#include <pthread.h>
int x;
void *worker(void *a) {
  x = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  struct hostent *host = gethostbyname("localhost");
  if (!host) return 1;
  int length = host->h_length;
  pthread_create(&t, 0, worker, 0);
  if (length < 4) x = 2;
  pthread_join(t, 0);
  return x;
}
