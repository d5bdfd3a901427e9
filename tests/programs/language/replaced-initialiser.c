// A later initialiser in braces replaces all of what it names: what it leaves out is zero (C11 6.7.9p19).
// expect: assertions=true
#include <assert.h>
#include <string.h>
struct inner { int first, second; };
struct outer { int number; struct inner inner; char text[4]; };
enum { RED, GREEN, BLUE, COLOURS };
static struct outer whole = {.inner.second = 5, .inner = {.first = 2}, .text = "abc", .text = {1}};
static struct inner table[COLOURS] = {[BLUE] = {1, 2}, [RED] = {3, 4}, [BLUE] = {.first = 7}};
static struct inner empty[2] = {{1, 2}, {3, 4}, [0] = {}};
static struct outer mixed = {1, .inner = {2, 3}, .text = "ab"};
int main(void) {
  struct outer local = {.inner.first = 5, .inner = {.second = 2}, .text = {1, 2, 3, 4}, .text = "x"};
  struct outer part = {.inner = {1, 2}, .inner.first = 7};
  assert(whole.inner.first == 2 && whole.inner.second == 0 && whole.text[0] == 1 && whole.text[1] == 0);
  assert(table[RED].second == 4 && table[BLUE].first == 7 && table[BLUE].second == 0);
  assert(empty[0].first == 0 && empty[0].second == 0 && empty[1].second == 4);
  assert(local.inner.first == 0 && local.inner.second == 2);
  assert(strcmp(local.text, "x") == 0 && local.text[2] == 0 && local.text[3] == 0);
  assert(part.inner.first == 7 && part.inner.second == 2);
  assert(mixed.number == 1 && mixed.inner.second == 3 && mixed.text[1] == 'b');
  return 0;
}
