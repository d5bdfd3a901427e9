// A function from a table is called.
// todo: bounds=true
static int one(void) { return 1; }
static int two(void) { return 2; }
static int (*table[])(void) = {one, two};
int main(int argc, char **argv) { return table[argc & 1](); }
