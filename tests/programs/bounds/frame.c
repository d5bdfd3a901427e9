// A function gets the address of a local of its caller.
// expect: bounds=true
int *kept;
static void set(int *p) { kept = p; }
static int get(void) { return *kept; }
int main(void) {
  int x = 1;
  set(&x);
  return get();
}
