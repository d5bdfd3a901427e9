// The pointer one past the end is dereferenced.
// expect: assertions=true races=true bounds=false
int main(void) {
  int v[3] = {1, 2, 3}, s = 0;
  int *p = v;
  while (p != v + 3)
    s += *p++;
  return *p; //~ ERROR
}
