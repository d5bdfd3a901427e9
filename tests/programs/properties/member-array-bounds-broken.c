// The index leaves the last array member of the struct.
// expect: assertions=true races=true bounds=false
struct s { int n; int v[2]; };
int main(void) {
  struct s x = {2, {0, 0}};
  int i = x.n;
  x.v[i] = 5; //~ ERROR
  return 0;
}
