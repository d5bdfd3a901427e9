// The product stays in the range of int.
// expect: assertions=true races=true overflow=true
int main(void) {
  int x = 65536;
  long long z = (long long)x * x;
  return z == 0;
}
