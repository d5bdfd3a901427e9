// A compound literal lives until its block ends.
// expect: bounds=true
struct s { int a; };
int main(void) {
  struct s *p = &(struct s){1};
  for (int i = 0; i < 2; i++)
    p->a += i;
  return p->a;
}
