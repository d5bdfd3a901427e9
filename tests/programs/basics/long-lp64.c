// In the LP64 data model long has 64 bits.
// expect: assertions=true races=true
// args: --data-model LP64
extern void abort(void);
void reach_error(void) { }
int main(void) {
  unsigned long u = 4294967295u;
  u = u + 1;
  if (sizeof(long) != 8 || sizeof(void *) != 8)
    reach_error();
  if (u == 0)
    reach_error();
  return 0;
}
