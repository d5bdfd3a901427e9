// In the ILP32 data model long has 32 bits.
// expect: assertions=true races=true
// args: --data-model ILP32
extern void abort(void);
void reach_error(void) { }
int main(void) {
  unsigned long u = 4294967295u;
  u = u + 1;
  if (sizeof(long) != 4 || sizeof(void *) != 4)
    reach_error();
  if (u != 0)
    reach_error();
  return 0;
}
