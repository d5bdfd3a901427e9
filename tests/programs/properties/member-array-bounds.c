// The index stays inside the array member.
// expect: assertions=true races=true bounds=true
struct s { int n; int v[2]; };
int main(void) {
  struct s x = {2, {0, 0}};
  int i = x.n - 1;
  x.v[i] = 5;
  return 0;
}
