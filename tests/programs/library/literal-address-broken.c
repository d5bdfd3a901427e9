// The address that a literal names is known.
// expect: races=false
#include <arpa/inet.h>
#include <pthread.h>

static int shared;

static void *worker(void *arg) {
  shared++; //~ RACE
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, other;
  struct in_addr address;
  if (inet_pton(AF_INET, "127.0.0.1", &address) != 1 || address.s_addr != inet_addr("127.0.0.1")) return 1;
  if (ntohl(address.s_addr) != 0x7f000001) return 1;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
