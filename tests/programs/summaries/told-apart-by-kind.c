// expect: races=true
// args: --engine summaries
// Both threads call the same functions, but what one of them passes never comes from the other one.
#include <pthread.h>

struct counts { int done, failed; };
static struct counts ours, theirs;

static struct counts *either(struct counts *counts, struct counts *other, int first) {
  return first ? counts : other;
}

static void note(struct counts *counts, int depth) {
  if (depth > 0) note(counts, depth - 1);
  counts->done++;
}

static void *work(void *argument) {
  note(either(&theirs, 0, 1), 2);
  return 0;
}

int main(void) {
  pthread_t id;
  pthread_create(&id, 0, work, 0);
  note(either(&ours, &ours, 0), 3);
  int done = ours.done;
  pthread_join(id, 0);
  return done + theirs.done;
}
