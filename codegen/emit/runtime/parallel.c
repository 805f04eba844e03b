/* Parallel loops: by a context's own parallel_for, or by one pool of threads that all libraries of a program share.
 *
 * A loop is a job on its caller's stack. Whoever takes part in it takes iterations until none is left, its own share
 * first, so that it makes no difference who comes, or when; the caller always takes part, and at the end waits for
 * those who are at work on its job. No call has more threads than its context says, however its loops are nested. The
 * lock is held where someone begins or ends to take part: what they wrote is then visible to each other. */
#if !defined(_WIN32) && !defined(__wasm__) /* serial.c is for these */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tile_tune_rt.h"

typedef int (*task_function)(struct tile_tune_call*, int, uint8_t*);

/* Iterations that one thread begins with, on a line of their own: its claims wait for nobody. */
struct range {
  _Alignas(64) atomic_uint next;
  unsigned end;
};
enum { MOST_RANGES = 32 };

struct job {
  struct tile_tune_call* call;
  task_function task;
  uint8_t* closure;
  int min;
  unsigned size;
  unsigned ranges;
  struct range range[MOST_RANGES];
  atomic_int status;
  int limit;          /* threads that may work for the call */
  int threads;        /* and those that find something to do here */
  atomic_int helpers; /* of the pool, now at work on it; grows under the lock */
  struct job* older;
};

/* Affinity scheduling (Markatos and LeBlanc 1994): a thread begins with the range that it had in the call before, which
 * its caches still hold, and then helps others with theirs. Of a range a quarter of what is left is claimed at a time
 * (Polychronopoulos and Kuck 1987), so that many small iterations are claimed few times, neighbours stay together, and
 * the last ones are claimed one by one. Of 17 kernels of drawn shapes, 6 to 300 us, the geometric mean of the time was
 * 1.22 times this with one counter for all, the worst 1.97, none less than 0.98 (2 threads, Zen 4, 2026-11-26). */
static void cut_into_ranges(struct job* job) {
  job->ranges = job->threads < MOST_RANGES ? (unsigned)job->threads : MOST_RANGES;
  for (unsigned r = 0, first = 0; r < job->ranges; ++r) {
    job->range[r].end = (unsigned)((uint64_t)job->size * (r + 1) / job->ranges);
    atomic_init(&job->range[r].next, first);
    first = job->range[r].end;
  }
}

/* 1: all of the range that is left has been done; 0: there was an error. */
static int take_from(struct job* job, struct range* range) {
  unsigned first = atomic_load_explicit(&range->next, memory_order_relaxed), last;
  for (;;) {
    do {
      if (first >= range->end) return 1;
      const unsigned part = (range->end - first) / 4;
      last = first + (part > 1 ? part : 1);
    } while (
        !atomic_compare_exchange_weak_explicit(&range->next, &first, last, memory_order_relaxed, memory_order_relaxed));
    for (; first < last; ++first) {
      if (atomic_load_explicit(&job->status, memory_order_relaxed) != TILE_TUNE_OK) return 0;
      int expected = TILE_TUNE_OK;
      const int status = job->task(job->call, job->min + (int)first, job->closure);
      if (status != TILE_TUNE_OK) atomic_compare_exchange_strong(&job->status, &expected, status);
    }
    first = atomic_load_explicit(&range->next, memory_order_relaxed);
  }
}

/* The caller is number 0. */
static void take_part(struct job* job, unsigned number) {
  for (unsigned r = 0; r < job->ranges; ++r)
    if (!take_from(job, &job->range[(number + r) % job->ranges])) break;
  tile_tune_rt4_end_stream(); /* not after each iteration: rows of 256 bytes took four times as long with it */
}

static int has_work(struct job* job) {
  if (atomic_load_explicit(&job->status, memory_order_relaxed) != TILE_TUNE_OK) return 0;
  for (unsigned r = 0; r < job->ranges; ++r)
    if (atomic_load_explicit(&job->range[r].next, memory_order_relaxed) < job->range[r].end) return 1;
  return 0;
}

/* Who waits looks again all the time, and lets others run after every PAUSES looks; after some 150 us it sleeps.
 * Halide's pool yields 40 times; on two cores of Zen 4, two tasks of 49 us each then take 97 us if 5 or 50 us lie
 * between two loops, since a thread that sleeps comes too late, and 50 us with 400 yields. Of two tasks of 5 us, yields
 * alone, of 0.6 us each, made 5.9 us; with pauses, of 28 ns, between them it is 5.3. */
enum { YIELDS = 100, PAUSES = 32 };

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#define WAIT_BRIEFLY_WHILE(condition)                                \
  for (int i = 0; i < YIELDS && (condition); ++i) {                  \
    for (int j = 0; j < PAUSES && (condition); ++j) pause_briefly(); \
    if (condition) sched_yield();                                    \
  }

struct worker {
  pthread_t thread;
  unsigned number;       /* from 1 */
  pthread_cond_t posted; /* while it sleeps: there is a job */
  int sleeping;
  int cpu; /* of pool.cpus, while it is awake; -1: none */
  struct worker* older;
#ifdef __GLIBC__
  int kept_away;           /* from CPUs of others, until it has woken */
  cpu_set_t allowed, free; /* where it may run otherwise, and meanwhile */
#endif
};

/* Who waits sees what it waits for (helpers, announced) change only after the lock is free again: to find it taken
 * would put it to sleep after all. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t finished;
  struct job* jobs; /* the newest first */
  struct worker* workers;
  int worker_count;
  int stopping;
  unsigned posts;
  atomic_uint announced; /* posts, a little later */
  atomic_int waiting;    /* callers that sleep until their helpers are done */
#ifdef __GLIBC__
  cpu_set_t cpus;                      /* where callers and workers that are awake run, */
  unsigned short runs_on[CPU_SETSIZE]; /* and how many of them there */
#endif
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER};

/* Linux wakes a thread where its caller runs though other CPUs idle (one of a virtual machine then counts as taken from
 * it), and parts the two milliseconds later: most calls after a pause took 330 us for 32 MFLOP, 170 us if none of the
 * pool runs where another does (two Zen 4 cores, Linux 6.18, 2026-11-27). All with the lock. */
#ifdef __GLIBC__
static int take_cpu(void) {
  const int cpu = sched_getcpu();
  if (cpu < 0 || cpu >= CPU_SETSIZE) return -1;
  if (pool.runs_on[cpu]++ == 0) CPU_SET(cpu, &pool.cpus);
  return cpu;
}

static void leave_cpu(int cpu) {
  if (cpu >= 0 && pool.runs_on[cpu] > 0 && --pool.runs_on[cpu] == 0) CPU_CLR(cpu, &pool.cpus);
}

static void keep_away_from_others(struct worker* worker) {
  if (pthread_getaffinity_np(worker->thread, sizeof worker->allowed, &worker->allowed) != 0) return;
  CPU_AND(&worker->free, &worker->allowed, &pool.cpus);
  CPU_XOR(&worker->free, &worker->allowed, &worker->free);
  worker->kept_away =
      CPU_COUNT(&worker->free) > 0 && pthread_setaffinity_np(worker->thread, sizeof worker->free, &worker->free) == 0;
}

/* Whoever gave it another place in between is obeyed. */
static void begin_work(struct worker* worker) {
  cpu_set_t now;
  if (worker->kept_away && pthread_getaffinity_np(worker->thread, sizeof now, &now) == 0 &&
      CPU_EQUAL(&now, &worker->free))
    pthread_setaffinity_np(worker->thread, sizeof worker->allowed, &worker->allowed);
  worker->kept_away = 0;
  worker->cpu = take_cpu();
}

#else
static int take_cpu(void) { return -1; }
static void leave_cpu(int cpu) { (void)cpu; }
static void keep_away_from_others(struct worker* worker) { (void)worker; }
static void begin_work(struct worker* worker) { worker->cpu = -1; }
#endif

static void wake(int count) {
  for (struct worker* worker = pool.workers; worker != NULL && count > 0; worker = worker->older) {
    if (!worker->sleeping) continue;
    keep_away_from_others(worker);
    worker->sleeping = 0;
    pthread_cond_signal(&worker->posted);
    --count;
  }
}

static struct job* find_job(void) {
  for (struct job* job = pool.jobs; job != NULL; job = job->older)
    if (job->call->working < job->limit &&
        atomic_load_explicit(&job->helpers, memory_order_relaxed) < job->threads - 1 && has_work(job))
      return job;
  return NULL;
}

/* Begins and ends with the lock. The last thing that it does to the job is to leave it, after which its caller may go.
 */
static void help(struct job* job, unsigned number) {
  ++job->call->working;
  atomic_fetch_add(&job->helpers, 1);
  pthread_mutex_unlock(&pool.lock);
  take_part(job, number);
  pthread_mutex_lock(&pool.lock);
  --job->call->working;
  pthread_mutex_unlock(&pool.lock);
  const int was_last = atomic_fetch_sub(&job->helpers, 1) == 1;
  pthread_mutex_lock(&pool.lock);
  if (was_last && atomic_load(&pool.waiting) > 0) pthread_cond_broadcast(&pool.finished);
}

static void wait_for_post(struct worker* worker) {
  const unsigned seen = pool.posts, heard = atomic_load(&pool.announced);
  pthread_mutex_unlock(&pool.lock);
  WAIT_BRIEFLY_WHILE(atomic_load(&pool.announced) == heard)
  pthread_mutex_lock(&pool.lock);
  leave_cpu(worker->cpu);
  worker->sleeping = pool.posts == seen;
  while (worker->sleeping && !pool.stopping) pthread_cond_wait(&worker->posted, &pool.lock);
  begin_work(worker);
}

static void* work(void* state) {
  struct worker* worker = state;
  pthread_mutex_lock(&pool.lock);
  begin_work(worker);
  while (!pool.stopping) {
    struct job* job = find_job();
    if (job != NULL)
      help(job, worker->number);
    else
      wait_for_post(worker);
  }
  leave_cpu(worker->cpu);
  pthread_mutex_unlock(&pool.lock);
  tile_tune_rt4_end_thread(); /* where a library is unloaded its key may be gone already */
  return NULL;
}

/* A child of fork has none of the threads. */
static void forget_pool(void) {
  pool.jobs = NULL;
  pool.workers = NULL;
  pool.worker_count = pool.stopping = pool.waiting = 0;
  pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  pool.finished = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
#ifdef __GLIBC__
  CPU_ZERO(&pool.cpus);
  memset(pool.runs_on, 0, sizeof pool.runs_on);
#endif
}

/* The threads are everybody's, and so run where the program's first thread may as well as where this caller may, who
 * perhaps keeps to a CPU of its own. */
static void prepare_attributes(pthread_attr_t* attributes) {
  pthread_attr_init(attributes);
#ifdef __GLIBC__
  cpu_set_t first, here;
  if (sched_getaffinity(getpid(), sizeof first, &first) != 0 || sched_getaffinity(0, sizeof here, &here) != 0) return;
  CPU_OR(&first, &first, &here);
  pthread_attr_setaffinity_np(attributes, sizeof first, &first);
#endif
}

/* Fewer than wanted where the system gives no more: then a loop merely takes longer. */
static void grow(int workers) {
  static int prepared = 0;
  if (!prepared) prepared = pthread_atfork(NULL, NULL, forget_pool) == 0;
  pthread_attr_t attributes;
  prepare_attributes(&attributes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's handlers run on the program's threads */
  while (prepared && pool.worker_count < workers) {
    struct worker* worker = calloc(1, sizeof *worker);
    if (worker == NULL) break;
    worker->number = (unsigned)pool.worker_count + 1;
    worker->posted = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    if (pthread_create(&worker->thread, &attributes, work, worker) != 0) {
      free(worker);
      break;
    }
    worker->older = pool.workers;
    pool.workers = worker;
    ++pool.worker_count;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
}

/* At the end of the program, or where a shared library that the runtime is part of is unloaded. */
__attribute__((destructor)) static void stop(void) {
  pthread_mutex_lock(&pool.lock);
  struct worker* worker = pool.workers;
  pool.workers = NULL;
  pool.worker_count = 0;
  pool.stopping = 1;
  for (struct worker* one = worker; one != NULL; one = one->older) pthread_cond_signal(&one->posted);
  pthread_mutex_unlock(&pool.lock);
  while (worker != NULL) {
    struct worker* older = worker->older;
    pthread_join(worker->thread, NULL);
    free(worker);
    worker = older;
  }
  pool.stopping = 0;
}

/* A caller that is cancelled ends after its loop: in the midst of it, it would take the lock and the job, which others
 * work at, with it. A signal that is on its way asks glibc 2.36 for the type, not for the state. */
static void run_in_pool(struct job* job) {
  int type, state;
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_mutex_lock(&pool.lock);
  const int cpu = take_cpu();
  if (pool.worker_count < job->threads - 1) grow(job->threads - 1);
  job->older = pool.jobs;
  pool.jobs = job;
  ++pool.posts;
  wake(job->threads - 1);
  pthread_mutex_unlock(&pool.lock);
  atomic_fetch_add(&pool.announced, 1);

  take_part(job, 0);

  WAIT_BRIEFLY_WHILE(atomic_load(&job->helpers) > 0)
  pthread_mutex_lock(&pool.lock);
  struct job** link = &pool.jobs;
  while (*link != job) link = &(*link)->older;
  *link = job->older;
  atomic_fetch_add(&pool.waiting, 1);
  while (atomic_load(&job->helpers) > 0) pthread_cond_wait(&pool.finished, &pool.lock);
  atomic_fetch_sub(&pool.waiting, 1);
  leave_cpu(cpu);
  pthread_mutex_unlock(&pool.lock);
  pthread_setcancelstate(state, &state);
  pthread_setcanceltype(type, &type);
}

static void take_part_of(void* state, int index) { take_part(state, (unsigned)index); }

/* Of one call: more would only cost memory, and stay. */
enum { MOST_THREADS = 1024 };

static int available_cpus(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int tile_tune_rt4_do_par_for(struct tile_tune_call* call, task_function task, int min, int size, uint8_t* closure) {
  const struct tile_tune_context* context = call->context;
  if (size < 1) return TILE_TUNE_OK;
  int threads = size == 1 ? 1 : atomic_load_explicit(&context->threads, memory_order_relaxed);
  if (threads == 0) threads = available_cpus();
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  struct job job;
  job.call = call;
  job.task = task;
  job.closure = closure;
  job.min = min;
  job.size = (unsigned)size;
  job.limit = threads;
  job.threads = threads < size ? threads : size;
  atomic_init(&job.status, TILE_TUNE_OK);
  atomic_init(&job.helpers, 0);
  cut_into_ranges(&job);
  if (job.threads > 1 && context->parallel_for != NULL)
    context->parallel_for(context->user, job.threads, take_part_of, &job);
  else if (job.threads > 1)
    run_in_pool(&job);
  take_part(&job, 0); /* what nobody has done */
  return atomic_load_explicit(&job.status, memory_order_relaxed);
}

#endif
