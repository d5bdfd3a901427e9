// A local of a function that has returned lies where one of the next function is.
// expect: bounds=false
int *kept;
static void set(void) { int x = 1; kept = &x; }
static int get(void) { int y = 0, *q = &y; *kept = 5; return *q; } //~ ERROR
int main(void) {
  set();
  return get();
}
