// A weak function that is not defined has no code: its address is null, and a call of it goes nowhere.
// expect: assertions=false races=true
#include <assert.h>
extern int hook(int) __attribute__((weak));
int main(int argc, char **argv) {
  (void)argv;
  assert(hook != 0 || argc != 2); //~ ERROR
  return hook(argc);
}
