// todo: assertions=false
// C17 lets mtx_trylock fail for no reason.
#include <assert.h>
#include <threads.h>
int main(void) {
  mtx_t lock;
  mtx_init(&lock, mtx_plain);
  assert(mtx_trylock(&lock) == thrd_success);
  return 0;
}
