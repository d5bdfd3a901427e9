// A pool of workers that count themselves under a lock; the owner waits for all of them by looking without it,
// and ends them by a flag after forty jobs.
// expect: races=false
// args: --data-model LP64
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct job {
  struct job *next;
  void (*function)(long);
  long argument;
};
struct pool {
  pthread_mutex_t lock;
  pthread_cond_t work, idle;
  struct job *first, *last;
  int waiting, alive, busy;
};
static volatile int keep_alive;
static void *worker(void *given) {
  struct pool *pool = given;
  pthread_mutex_lock(&pool->lock);
  pool->alive = pool->alive + 1; //~ RACE
  pthread_mutex_unlock(&pool->lock);
  while (keep_alive) { //~ RACE
    pthread_mutex_lock(&pool->lock);
    while (pool->first == 0 && keep_alive)
      pthread_cond_wait(&pool->work, &pool->lock);
    struct job *job = pool->first;
    if (job) {
      pool->first = job->next;
      pool->waiting--;
    }
    pool->busy++;
    pthread_mutex_unlock(&pool->lock);
    if (job) {
      job->function(job->argument);
      free(job);
    }
    pthread_mutex_lock(&pool->lock);
    pool->busy--;
    if (pool->busy == 0 && pool->waiting == 0)
      pthread_cond_signal(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
  }
  return 0;
}
static void add(struct pool *pool, void (*function)(long), long argument) {
  struct job *job = malloc(sizeof *job);
  job->next = 0;
  job->function = function;
  job->argument = argument;
  pthread_mutex_lock(&pool->lock);
  if (pool->first)
    pool->last->next = job;
  else
    pool->first = job;
  pool->last = job;
  pool->waiting++;
  pthread_cond_signal(&pool->work);
  pthread_mutex_unlock(&pool->lock);
}
static void task(long number) { printf("job %ld\n", number); }
int main(void) {
  pthread_t threads[4];
  struct pool *pool = calloc(1, sizeof *pool);
  keep_alive = 1;
  pthread_mutex_init(&pool->lock, 0);
  pthread_cond_init(&pool->work, 0);
  pthread_cond_init(&pool->idle, 0);
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, worker, pool);
  while (pool->alive != 4) //~ RACE
    ;
  for (int i = 0; i < 40; i++)
    add(pool, task, i);
  pthread_mutex_lock(&pool->lock);
  while (pool->waiting > 0 || pool->busy > 0)
    pthread_cond_wait(&pool->idle, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
  keep_alive = 0; //~ RACE
  pthread_mutex_lock(&pool->lock);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  free(pool);
  return 0;
}
