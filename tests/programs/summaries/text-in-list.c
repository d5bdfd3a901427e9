// expect: races=true
// args: --engine summaries
// What one thread hands to a function that writes messages is not read where the other one calls it.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static char title[8] = "title";
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

static void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&printing);
  vfprintf(stderr, format, arguments);
  pthread_mutex_unlock(&printing);
  va_end(arguments);
}

static void *work(void *argument) {
  say("%s\n", "worker");
  return 0;
}

int main(void) {
  pthread_t id;
  pthread_create(&id, 0, work, 0);
  say("%s\n", title);
  title[0] = 'T';
  pthread_join(id, 0);
  return 0;
}
