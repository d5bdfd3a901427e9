// The copy of a part of a structure with gaps is moved by a member: what the other thread writes comes to `yours`.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <string.h>

struct both {
  int *mine;
  int *yours;
  char text[3];
  int number;
  int *last;
};

static int x, y;
static struct both all[2];

static void *worker(void *argument) {
  *all[1].yours = 1;
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  all[0].mine = &x;
  all[0].yours = &y;
  memcpy(&all[1].yours, &all[0].mine, (sizeof(struct both) - sizeof(int *)) / argc * argc);
  pthread_create(&thread, 0, worker, 0);
  *all[0].mine = 1;
  pthread_join(thread, 0);
  return x + y;
}
