// Each call passes the address of its local down.
// expect: bounds=true
static int depth(int *up, int n) {
  int x = *up + 1;
  return n == 0 ? x : depth(&x, n - 1);
}
int main(void) { int x = 0; return depth(&x, 3); }
