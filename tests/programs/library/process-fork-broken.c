// todo: assertions=false
// A child has another number.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  pid_t self = getpid(); if (fork() == 0) assert(getpid() == self);
  return 0;
}
