// Two threads may take the same element: the list is read before the lock is taken.
// expect: deref=false free=false
#include <pthread.h>
#include <stdlib.h>
struct node {
  struct node *next;
  int value;
};
static struct node *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *take(void *unused) {
  struct node *mine = list;
  pthread_mutex_lock(&lock);
  if (mine)
    list = mine->next; //~ ERROR
  pthread_mutex_unlock(&lock);
  if (mine) {
    mine->value++; //~ ERROR
    free(mine); //~ ERROR
  }
  return 0;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) {
    struct node *made = malloc(sizeof *made);
    made->value = i;
    made->next = list;
    list = made;
  }
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], 0, take, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], 0);
  return 0;
}
