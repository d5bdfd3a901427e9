// Each of two threads starts helpers, in a function that joins them all before it returns. What a thread shares with its helpers is its
// own before it starts them and after it has joined them.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

struct shared {
  int *numbers;
  int count;
};

struct part {
  struct shared *shared;
  int from, sum;
};

static void *add(void *argument) {
  struct part *part = argument;
  for (int i = part->from; i < part->shared->count; i += 2) part->sum += part->shared->numbers[i];
  return 0;
}

static int sum(int *numbers, int count, int helpers) {
  struct shared shared;
  shared.numbers = numbers;
  shared.count = count;
  struct part *parts = malloc(helpers * sizeof *parts);
  pthread_t *ids = malloc(helpers * sizeof *ids);
  for (int i = 0; i < helpers; i++) {
    parts[i].shared = &shared;
    parts[i].from = i;
    parts[i].sum = 0;
  }
  for (int i = 0; i < helpers; i++) pthread_create(&ids[i], 0, add, &parts[i]);
  for (int i = 0; i < helpers; i++) pthread_join(ids[i], 0);
  shared.count = 0;
  int result = 0;
  for (int i = 0; i < helpers; i++) result += parts[i].sum;
  free(parts);
  free(ids);
  return result;
}

static void *work(void *unused) {
  int numbers[] = {1, 2, 3};
  numbers[0] = sum(numbers, 3, 2);
  numbers[1] = sum(numbers, 3, 2);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
