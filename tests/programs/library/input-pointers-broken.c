// A pointer comes from outside, as a part of a structure: it may be one that was sent there.
// todo: races=false
// args: --engine flow
#include <pthread.h>
#include <unistd.h>
struct message {
  int kind;
  int *target;
};
int number;
static void *work(void *unused) {
  number = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t thread;
  int ends[2];
  struct message sent = {1, &number}, received = {0, 0};
  if (pipe(ends)) return 1;
  write(ends[1], &sent, sizeof sent);
  read(ends[0], &received, sizeof received);
  pthread_create(&thread, 0, work, 0);
  if (received.target) *received.target = 2; //~ RACE
  pthread_join(thread, 0);
  return 0;
}
