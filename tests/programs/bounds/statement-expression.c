// The value of a statement expression outlives its block.
// expect: bounds=true
struct s { int a, b; };
int main(void) {
  int x = ({ int y = 2; int *p = &y; *p; });
  struct s t = ({ struct s u = {1, 2}; struct s *p = &u; *p; });
  return x + t.b;
}
