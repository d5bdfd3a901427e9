// The shifted value fits.
// expect: assertions=true races=true overflow=true
int main(void) {
  int x = 3;
  int y = x << 29;
  return y == 0;
}
