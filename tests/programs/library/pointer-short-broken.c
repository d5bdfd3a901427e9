// There is room for a part of the attributes only.
// expect: bounds=false
#include <pthread.h>
#include <stdlib.h>
int main(void) {
  pthread_attr_t *attributes = malloc(sizeof *attributes - 1);
  pthread_attr_init(attributes); //~ ERROR
  return 0;
}
