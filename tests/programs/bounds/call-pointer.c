// The pointer points to a function whenever it is called.
// expect: bounds=true
static int one(void) { return 1; }
int (*f)(void);
int main(int argc, char **argv) {
  if (argc > 1)
    f = one;
  return f ? f() : 0;
}
