// The loop over a string stops at its end.
// expect: assertions=true races=true bounds=true
int main(void) {
  char s[4] = {'a', 'b', 'c'};
  int n = 0;
  while (s[n] != 0)
    n++;
  return n;
}
