// Threads start helpers whose ids and arguments are in an array of the function that starts them, and use the element of a helper that
// was joined while others still run.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

struct part {
  pthread_t id;
  int input, output;
};

static void *run(void *argument) {
  struct part *part = argument;
  part->output = part->input + 1;
  return 0;
}

static int all(int start) {
  struct part parts[2];
  int result = 0;
  for (int i = 0; i < 2; i++) {
    parts[i].input = start + i;
    pthread_create(&parts[i].id, 0, run, &parts[i]);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(parts[i].id, 0);
    result += parts[i].output;
  }
  return result;
}

static void *work(void *unused) {
  all(1);
  return 0;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, 0, work, 0);
  all(2);
  all(3);
  pthread_join(other, 0);
  return 0;
}
