/* Parallel loops: by a context's own parallel_for, or by one pool of threads that all libraries of a program share.
 *
 * A loop is a job on its caller's stack. Whoever takes part in it takes iterations until none is left, so that it makes
 * no difference who comes, or when; the caller always takes part, and at the end waits for those who are at work on its
 * job. No call has more threads than its context says, however its loops are nested. The lock is held where someone
 * begins or ends to take part: what they wrote is then visible to each other. */
#if !defined(_WIN32) && !defined(__wasm__) /* serial.c is for these */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tile_tune_rt.h"

typedef int (*task_function)(struct tile_tune_call*, int, uint8_t*);

struct job {
  struct tile_tune_call* call;
  task_function task;
  uint8_t* closure;
  int min;
  unsigned size;
  atomic_uint next; /* at most size + threads, which an unsigned holds */
  atomic_int status;
  int limit;          /* threads that may work for the call */
  int threads;        /* and those that find something to do here */
  atomic_int helpers; /* of the pool, now at work on it; changes under the lock */
  struct job* older;
};

static void take_part(struct job* job) {
  for (;;) {
    if (atomic_load_explicit(&job->status, memory_order_relaxed) != TILE_TUNE_OK) return;
    const unsigned i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
    if (i >= job->size) return;
    int expected = TILE_TUNE_OK;
    const int status = job->task(job->call, job->min + (int)i, job->closure);
    if (status != TILE_TUNE_OK) atomic_compare_exchange_strong(&job->status, &expected, status);
  }
}

static int has_work(struct job* job) {
  return atomic_load_explicit(&job->next, memory_order_relaxed) < job->size &&
         atomic_load_explicit(&job->status, memory_order_relaxed) == TILE_TUNE_OK;
}

/* How often who waits looks again before it sleeps, as in Halide's pool, with which kernels are tuned: waking a thread
 * takes longer than most pauses between two loops. */
enum { YIELDS = 40 };

struct worker {
  pthread_t thread;
  struct worker* older;
};

static struct {
  pthread_mutex_t lock;
  pthread_cond_t posted, finished;
  struct job* jobs; /* the newest first */
  struct worker* workers;
  int worker_count, sleeping;
  int stopping;
  atomic_uint posts; /* so that who looks for work need not take the lock */
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, NULL, 0, 0, 0, 0};

static struct job* find_job(void) {
  for (struct job* job = pool.jobs; job != NULL; job = job->older)
    if (job->call->working < job->limit &&
        atomic_load_explicit(&job->helpers, memory_order_relaxed) < job->threads - 1 && has_work(job))
      return job;
  return NULL;
}

static void help(struct job* job) {
  ++job->call->working;
  atomic_fetch_add_explicit(&job->helpers, 1, memory_order_relaxed);
  pthread_mutex_unlock(&pool.lock);
  take_part(job);
  pthread_mutex_lock(&pool.lock);
  --job->call->working;
  if (atomic_fetch_sub_explicit(&job->helpers, 1, memory_order_relaxed) == 1) pthread_cond_broadcast(&pool.finished);
}

static void wait_for_post(void) {
  const unsigned seen = atomic_load(&pool.posts);
  pthread_mutex_unlock(&pool.lock);
  for (int i = 0; i < YIELDS && atomic_load(&pool.posts) == seen; ++i) sched_yield();
  pthread_mutex_lock(&pool.lock);
  ++pool.sleeping;
  while (atomic_load(&pool.posts) == seen && !pool.stopping) pthread_cond_wait(&pool.posted, &pool.lock);
  --pool.sleeping;
}

static void* work(void* unused) {
  (void)unused;
  pthread_mutex_lock(&pool.lock);
  while (!pool.stopping) {
    struct job* job = find_job();
    if (job != NULL)
      help(job);
    else
      wait_for_post();
  }
  pthread_mutex_unlock(&pool.lock);
  return NULL;
}

/* A child of fork has none of the threads. */
static void forget_pool(void) {
  pool.jobs = NULL;
  pool.workers = NULL;
  pool.worker_count = pool.sleeping = pool.stopping = 0;
  pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  pool.posted = pool.finished = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

/* Fewer than wanted where the system gives no more: then a loop merely takes longer. */
static void grow(int workers) {
  static int prepared = 0;
  if (!prepared) prepared = pthread_atfork(NULL, NULL, forget_pool) == 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's handlers run on the program's threads */
  while (prepared && pool.worker_count < workers) {
    struct worker* worker = malloc(sizeof *worker);
    if (worker == NULL || pthread_create(&worker->thread, NULL, work, NULL) != 0) {
      free(worker);
      break;
    }
    worker->older = pool.workers;
    pool.workers = worker;
    ++pool.worker_count;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* At the end of the program, or where a shared library that the runtime is part of is unloaded. */
__attribute__((destructor)) static void stop(void) {
  pthread_mutex_lock(&pool.lock);
  struct worker* worker = pool.workers;
  pool.workers = NULL;
  pool.worker_count = 0;
  pool.stopping = 1;
  pthread_cond_broadcast(&pool.posted);
  pthread_mutex_unlock(&pool.lock);
  while (worker != NULL) {
    struct worker* older = worker->older;
    pthread_join(worker->thread, NULL);
    free(worker);
    worker = older;
  }
  pool.stopping = 0;
}

static void run_in_pool(struct job* job) {
  pthread_mutex_lock(&pool.lock);
  if (pool.worker_count < job->threads - 1) grow(job->threads - 1);
  job->older = pool.jobs;
  pool.jobs = job;
  atomic_fetch_add(&pool.posts, 1);
  const int wanted = pool.sleeping < job->threads - 1 ? pool.sleeping : job->threads - 1;
  for (int i = 0; i < wanted; ++i) pthread_cond_signal(&pool.posted);
  pthread_mutex_unlock(&pool.lock);

  take_part(job);

  for (int i = 0; i < YIELDS && atomic_load_explicit(&job->helpers, memory_order_relaxed) > 0; ++i) sched_yield();
  pthread_mutex_lock(&pool.lock);
  struct job** link = &pool.jobs;
  while (*link != job) link = &(*link)->older;
  *link = job->older;
  while (atomic_load_explicit(&job->helpers, memory_order_relaxed) > 0) pthread_cond_wait(&pool.finished, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
}

static void take_part_of(void* state, int index) {
  (void)index;
  take_part(state);
}

static int available_cpus(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int tile_tune_rt1_do_par_for(struct tile_tune_call* call, task_function task, int min, int size, uint8_t* closure) {
  const struct tile_tune_context* context = call->context;
  if (size < 1) return TILE_TUNE_OK;
  int threads = size == 1 ? 1 : atomic_load_explicit(&context->threads, memory_order_relaxed);
  if (threads == 0) threads = available_cpus();
  struct job job = {.call = call, .task = task, .closure = closure, .min = min, .size = (unsigned)size};
  job.limit = threads;
  job.threads = threads < size ? threads : size;
  if (job.threads > 1 && context->parallel_for != NULL)
    context->parallel_for(context->user, job.threads, take_part_of, &job);
  else if (job.threads > 1)
    run_in_pool(&job);
  take_part(&job); /* what nobody has done */
  return atomic_load_explicit(&job.status, memory_order_relaxed);
}

#endif
