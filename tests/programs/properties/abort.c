// abort ends the program before the error.
// expect: assertions=true races=true
extern void abort(void);
void reach_error(void) { }
int main(void) {
  abort();
  reach_error();
  return 0;
}
