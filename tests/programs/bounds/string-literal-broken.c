// A string literal must not be changed.
// expect: bounds=false
int main(void) {
  char *p = "abc";
  p[0] = 'x'; //~ ERROR
  return 0;
}
