// expect: bounds=false
#include <unistd.h>
int main(int count, char **arguments) {
  int option = getopt(count, arguments, "ab::");
  if (option == 'b') return optarg[0]; //~ ERROR
  return 0;
}
