// todo: assertions=false
// The user was changed.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  uid_t user = getuid(); if (setuid(user + 1) == 0) assert(getuid() == user);
  return 0;
}
