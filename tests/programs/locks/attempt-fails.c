// expect: assertions=true races=true
#include <assert.h>
#include <threads.h>
static mtx_t lock;
static int x;
static int work(void *argument) {
  if (mtx_trylock(&lock) == thrd_success) {
    x++;
    assert(x > 0);
    mtx_unlock(&lock);
  }
  return 0;
}
int main(void) {
  thrd_t one, other;
  mtx_init(&lock, mtx_plain);
  thrd_create(&one, work, 0);
  thrd_create(&other, work, 0);
  return 0;
}
