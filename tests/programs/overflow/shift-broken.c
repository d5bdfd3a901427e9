// A negative value is shifted to the left.
// expect: overflow=false
int main(void) { int x = -1; return x << 1; } //~ ERROR
