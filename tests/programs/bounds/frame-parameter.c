// A parameter is used through a pointer while it lives.
// expect: bounds=true
static int twice(int x) { int *p = &x; *p += *p; return x; }
int main(void) { return twice(2); }
