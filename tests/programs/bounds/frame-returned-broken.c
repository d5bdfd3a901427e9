// A function returns the address of its local in a structure.
// expect: bounds=false
struct box { int *p; };
static struct box make(void) { int x = 1; struct box b = {&x}; return b; }
int main(void) {
  struct box b = make();
  return *b.p; //~ ERROR
}
