// The address of a parameter is used after the call.
// expect: bounds=false
int *kept;
static void keep(int x) { kept = &x; }
int main(void) {
  keep(2);
  return *kept; //~ ERROR
}
