// expect: overflow=false
// What is passed to a weak function that is not there is computed before the call.
extern int absent(int) __attribute__((weak));
int x = 2147483647;
int main(void) {
  absent(x + 1); //~ ERROR
  return 0;
}
