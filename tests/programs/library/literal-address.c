// The address that a literal names is known.
// expect: races=true
#include <arpa/inet.h>
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
  pthread_mutex_lock(&lock);
  shared++;
  pthread_mutex_unlock(&lock);
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
