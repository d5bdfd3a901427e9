// A compound literal of a block is used after it.
// expect: bounds=false
struct s { int a; };
int main(void) {
  struct s *p = 0;
  for (int i = 0; i < 2; i++) {
    if (p)
      return p->a; //~ ERROR
    p = &(struct s){i};
  }
  return 0;
}
