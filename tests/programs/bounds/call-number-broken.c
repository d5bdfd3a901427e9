// A number is called.
// expect: bounds=false
static int one(void) { return 1; }
static int (*table[])(void) = {one, (int (*)(void))4660};
int main(int argc, char **argv) { return table[argc & 1](); } //~ ERROR
