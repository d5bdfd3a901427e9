// A copy of a string may be changed.
// expect: bounds=true
int main(void) {
  char text[] = "abc";
  char *p = text;
  p[0] = 'x';
  const char *q = "abc";
  return q[0];
}
