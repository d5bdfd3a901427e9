// A server with one thread for each connection. They take a lock to count up, and forget it to count down; the
// table of handlers is made when it is first needed, by whoever needs it.
// expect: races=false
// args: --data-model LP64
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
typedef int (*handler)(int, const char *);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int connections;
static handler *handlers;
static int level = 1;
static int echo(int socket, const char *text) { return write(socket, text, strlen(text)); }
static int set_level(int socket, const char *text) {
  level = atoi(text); //~ RACE
  return write(socket, "ok", 2);
}
static void prepare(void) {
  if (!handlers) { //~ RACE
    handler *made = calloc(2, sizeof *made);
    made[0] = echo;
    made[1] = set_level;
    handlers = made; //~ RACE
  }
}
static void *serve(void *given) {
  int socket = *(int *)given;
  char line[32];
  free(given);
  prepare();
  pthread_mutex_lock(&lock);
  connections++; //~ RACE
  pthread_mutex_unlock(&lock);
  for (;;) {
    long got = read(socket, line, sizeof line - 1);
    if (got <= 1)
      break;
    line[got] = 0;
    if (level > 1) //~ RACE
      printf("%s\n", line);
    if (line[0] == 'l')
      handlers[1](socket, line + 1);
    else
      handlers[0](socket, line);
  }
  close(socket);
  connections--; //~ RACE
  return 0;
}
int main(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || listen(listener, 5) < 0)
    return 1;
  for (int i = 0; i < 3; i++) {
    int *one = malloc(sizeof *one);
    *one = accept(listener, 0, 0);
    if (*one < 0) {
      free(one);
      continue;
    }
    pthread_t thread;
    if (pthread_create(&thread, 0, serve, one) == 0)
      pthread_detach(thread);
  }
  return 0;
}
