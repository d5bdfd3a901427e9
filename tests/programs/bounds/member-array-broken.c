// The index leaves the member, but not the structure.
// expect: bounds=false
struct { int a[4]; int b; } s;
int main(void) {
  for (int i = 0; i <= 4; i++)
    s.a[i] = i; //~ ERROR
  return s.b;
}
