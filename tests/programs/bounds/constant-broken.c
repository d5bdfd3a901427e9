// A constant is written through a pointer.
// expect: bounds=false
static const int limits[2] = { 1, 2 };
static void set(int *p) {
  p[1] = 3; //~ ERROR
}
int main(void) {
  set((int *)limits);
  return 0;
}
