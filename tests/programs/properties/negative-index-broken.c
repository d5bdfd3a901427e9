// The index becomes negative.
// expect: assertions=true races=true bounds=false
int main(void) {
  int v[3] = {1, 2, 3}, s = 0;
  for (int i = 2; i >= -1; i--)
    s += v[i]; //~ ERROR
  return s == 6 ? 0 : 1;
}
