// A function that no file defines and that gives no result may be a lock.
// todo: races=true assertions=true
#include <assert.h>
#include <pthread.h>
void my_lock(void);
void my_unlock(void);
int x;
void *worker(void *argument) {
  my_lock();
  x++;
  my_unlock();
  return argument;
}
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, worker, 0);
  my_lock();
  x++;
  my_unlock();
  pthread_join(id, 0);
  assert(x == 2);
}
