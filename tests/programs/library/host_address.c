// What gethostbyname gives has addresses of the internet: the first one can be copied, and the loop of the
// thread ends when time has passed.
// expect: races=false
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
struct address {
  int before;
  char bytes[4];
} address;
int stop;
void *worker(void *a) {
  while (!stop) { //~ RACE
    sleep(1);
  }
  return 0;
}
void pause_for(int seconds) {
  time_t start, now;
  int left = seconds;
  time(&start);
  while (left > 0) {
    sleep(left);
    time(&now);
    left = seconds - (now - start);
  }
}
int main(void) {
  pthread_t t;
  struct hostent *host = gethostbyname("localhost");
  if (!host) return 1;
  memcpy(address.bytes, host->h_addr_list[0], host->h_length);
  pthread_create(&t, 0, worker, 0);
  for (int i = 0; i < 30; i++) pause_for(1);
  stop = 1; //~ RACE
  pthread_join(t, 0);
  return 0;
}
