// The pointer is used when the expression with the call is over.
// expect: bounds=false
struct pair {
  int a[2];
};
static struct pair make(int x) {
  struct pair p = {{x, x + 1}};
  return p;
}
int main(void) {
  int *p = make(3).a;
  return p[1]; //~ ERROR
}
