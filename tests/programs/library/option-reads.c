// The arguments are changed before options are looked for.
// expect: races=true
#include <pthread.h>
#include <unistd.h>
static char *arguments[3] = {"program", "-a", 0};
static void *look(void *arg) {
  getopt(2, arguments, "a");
  return arg;
}
int main(void) {
  pthread_t thread;
  arguments[1] = "-b";
  opterr = 0;
  pthread_create(&thread, 0, look, 0);
  pthread_join(thread, 0);
  return 0;
}
