// A call hands the address of its local up.
// expect: bounds=false
static int *deep(int n) {
  int x = n;
  int *p = &x;
  return n == 0 ? p : deep(n - 1);
}
int main(void) { return *deep(2); } //~ ERROR
