// In the ILP32 data model an unsigned long wraps at 32 bits.
// expect: assertions=false races=true
// args: --data-model ILP32
extern void abort(void);
void reach_error(void) { }
int main(void) {
  unsigned long u = 4294967295u;
  u = u + 1;
  if (sizeof(long) != 4 || sizeof(void *) != 4)
    reach_error();
  if (u == 0)
    reach_error(); //~ ERROR
  return 0;
}
