// A pointer walks to the end of the array and is not dereferenced there.
// expect: assertions=true races=true bounds=true
int main(void) {
  int v[3] = {1, 2, 3}, s = 0;
  int *p = v;
  while (p != v + 3)
    s += *p++;
  return s == 6 ? 0 : 1;
}
