// Shifts of positive values by distances in range.
// expect: overflow=true
int main(void) {
  int x = 1, y = -8;
  unsigned u = 1;
  return (x << 30) + (y >> 1) + (u << 31 != 0);
}
