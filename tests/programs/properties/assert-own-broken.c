// The self-defined assertion fails in the second call.
// expect: assertions=false races=true
extern void abort(void);
void reach_error(void) { }
static void check(int c) {
  if (!c)
    reach_error(); //~ ERROR
}
int main(void) {
  int x = 1;
  check(x == 1);
  x += 2;
  check(x == 2);
  return 0;
}
