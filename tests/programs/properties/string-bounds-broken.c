// The character array has no room for the terminating zero.
// expect: assertions=true races=true bounds=false
int main(void) {
  char s[3] = {'a', 'b', 'c'};
  int n = 0;
  while (s[n] != 0) //~ ERROR
    n++;
  return n;
}
