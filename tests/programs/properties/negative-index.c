// The index is decremented to zero.
// expect: assertions=true races=true bounds=true
int main(void) {
  int v[3] = {1, 2, 3}, s = 0;
  for (int i = 2; i >= 0; i--)
    s += v[i];
  return s == 6 ? 0 : 1;
}
