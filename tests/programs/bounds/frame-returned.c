// A function returns the address that it was given.
// expect: bounds=true
static int *same(int *p) { int x = *p; int *q = &x; *q = 1; return p; }
int main(void) {
  int x = 1;
  return *same(&x);
}
