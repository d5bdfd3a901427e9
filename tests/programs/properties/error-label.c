// The label ERROR is not reached.
// expect: assertions=true races=true
extern void abort(void);
void reach_error(void) { }
int main(void) {
  int x = 3;
  if (x != 3)
    goto ERROR;
  return 0;
ERROR:
  reach_error();
  abort();
}
