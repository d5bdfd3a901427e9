// The left shift moves bits out of the range of int.
// expect: assertions=true races=true overflow=false
int main(void) {
  int x = 3;
  int y = x << 30; //~ ERROR
  return y == 0;
}
