// A negative index leaves the member.
// expect: bounds=false
struct { int b; int a[4]; } s;
int main(void) {
  int i = -1;
  return s.a[i]; //~ ERROR
}
