// A loop starts a thread in each round. In the first round, before any of them, it writes what they read. The bound of the loop is a
// member of a global that may change meanwhile, and the index has 64 bits and no sign.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdint.h>

struct thread {
  pthread_t id;
  long result;
};

static struct {
  uint64_t connections, threads;
  int dynamic;
} settings;
static uint64_t other, *where;
static int hook;

static void *work(void *argument) {
  int sum = settings.dynamic + hook;
  return 0;
}

static void count(void) {
  *where = 5;
}

int main(int argc, char **argv) {
  static struct thread threads[16];
  settings.threads = argc;
  where = argc > 3 ? &settings.threads : &other;
  for (uint64_t i = 0; i < settings.threads; i++) {
    struct thread *thread = &threads[i & 15];
    count();
    if (i == 0) {
      settings.dynamic = argc;
      if (argc > 2)
        hook = 1;
    }
    pthread_create(&thread->id, 0, work, &threads[i]);
  }
  return 0;
}
