// The product of two ints overflows before it is widened.
// expect: assertions=true races=true overflow=false
int main(void) {
  int x = 65536;
  long long z = x * x; //~ ERROR
  return z == 0;
}
