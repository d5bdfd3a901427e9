// An operand in a register is read through its pointer, which is null.
// expect: bounds=false
int main(void) {
  int *p = 0;
  __asm__ volatile("" : "+r"(*p)); //~ ERROR
  return 0;
}
