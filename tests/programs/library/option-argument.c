// todo: bounds=true
// An option that needs an argument has one: before, a null pointer was reported here.
#include <unistd.h>
int main(int count, char **arguments) {
  int option = getopt(count, arguments, "ab:");
  if (option == 'b') return optarg[0];
  return 0;
}
