// Looking for options reads the arguments and a variable of the library. Which argument is read is not
// modelled.
// todo: races=false
#include <pthread.h>
#include <unistd.h>
static char *arguments[3] = {"program", "-a", 0};
static void *look(void *arg) {
  getopt(2, arguments, "a");
  return arg;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, look, 0);
  arguments[1] = "-b";
  pthread_join(thread, 0);
  return 0;
}
