// A self-defined assertion function with reach_error.
// expect: assertions=true races=true
extern void abort(void);
void reach_error(void) { }
static void check(int c) {
  if (!c)
    reach_error();
}
int main(void) {
  int x = 1;
  check(x == 1);
  x += 2;
  check(x == 3);
  return 0;
}
