// A direct call of __assert_fail is a failing assertion.
// expect: assertions=true races=true
extern void __assert_fail(const char *, const char *, unsigned int, const char *) __attribute__((__noreturn__));
int main(void) {
  int x = 2;
  ((x > 1) ? (void)0 : __assert_fail("x > 2", "f.c", 4, "main"));
  return 0;
}
