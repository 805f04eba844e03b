/* Two packages in one program: threads, pools, allocators and contexts of each; prints the first failure and returns 1.
   With the argument "watched" (by ThreadSanitizer, which has a thread of its own and does not follow forks) it neither
   counts the threads of the process nor forks. */
#define _GNU_SOURCE
#include <first.h>
#include <pthread.h>
#include <second.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "caller.h"

/* Rows in four parallel parts, each of which copies B into scratch memory of its own. */
enum { M = first_product_A_extent0, K = first_product_A_extent1, N = first_product_B_extent1, PARTS = 4 };
static float A[M * K], B[K * N], expected[M * N];

static void fill(void) {
  for (int i = 0; i < M * K; ++i) A[i] = (float)(i * 7 % 11 - 5);
  for (int i = 0; i < K * N; ++i) B[i] = (float)(i * 5 % 13 - 6);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k) expected[i * N + j] += A[i * K + k] * B[k * N + j];
}

#define CHECK_PRODUCT(call)                           \
  do {                                                \
    float C[M * N];                                   \
    memset(C, 0x5a, sizeof C);                        \
    CHECK((call) == 0);                               \
    CHECK(memcmp(C, expected, sizeof expected) == 0); \
  } while (0)

/* An allocator that sees which threads work: each waits until `wanted` of them have come. */
struct crowd {
  pthread_mutex_t lock;
  pthread_cond_t arrived;
  int wanted, count;
  pthread_t threads[2 * PARTS];
  int allocations, outstanding;
  int most;            /* outstanding at once: each part of a kernel has one */
  int fail_at;         /* which allocation fails, counted from 0; -1: none */
  int (*nested)(void); /* is called from within the kernel */
};

static struct crowd crowd_of(int wanted) {
  const struct crowd crowd = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, wanted, 0, {0}, 0, 0, 0, -1, NULL};
  return crowd;
}

static void join_crowd(struct crowd* crowd) {
  int known = 0;
  for (int i = 0; i < crowd->count; ++i) known |= pthread_equal(crowd->threads[i], pthread_self());
  if (!known) crowd->threads[crowd->count++] = pthread_self();
  pthread_cond_broadcast(&crowd->arrived);
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 60; /* so that a pool with too few threads fails the test and does not hang it */
  while (crowd->count < crowd->wanted && pthread_cond_timedwait(&crowd->arrived, &crowd->lock, &limit) == 0) continue;
}

static void* allocate(void* user, size_t bytes) {
  struct crowd* crowd = user;
  pthread_mutex_lock(&crowd->lock);
  join_crowd(crowd);
  const int fails = crowd->allocations++ == crowd->fail_at;
  crowd->outstanding += !fails;
  if (crowd->outstanding > crowd->most) crowd->most = crowd->outstanding;
  pthread_mutex_unlock(&crowd->lock);
  usleep(2000); /* time for a thread to come that should not */
  if (crowd->nested != NULL && crowd->nested() != 0) return NULL;
  char* memory = fails ? NULL : malloc(bytes + 1);
  return memory != NULL ? memory + 1 : NULL; /* of no alignment */
}

static void release(void* user, void* memory, size_t bytes) {
  struct crowd* crowd = user;
  memset(memory, 0x5a, bytes); /* as much as was given */
  free((char*)memory - 1);
  pthread_mutex_lock(&crowd->lock);
  --crowd->outstanding;
  pthread_mutex_unlock(&crowd->lock);
}

static void watch_first(first_context* context, struct crowd* crowd) {
  CHECK(first_context_set_user_data(context, crowd) == FIRST_OK);
  CHECK(first_context_set_allocator(context, allocate, release) == FIRST_OK);
}

static void forget_first(first_context* context) {
  CHECK(first_context_set_allocator(context, NULL, NULL) == FIRST_OK);
  CHECK(first_context_set_user_data(context, NULL) == FIRST_OK);
}

/* A pool of the caller's. */
struct pool {
  int calls, count, skip;
  void (*task)(void*, int);
  void* state;
};

struct piece {
  struct pool* pool;
  int index;
};

static void* run_piece(void* argument) {
  const struct piece* piece = argument;
  piece->pool->task(piece->pool->state, piece->index);
  return NULL;
}

static void parallel_for(void* user, int count, void (*task)(void*, int), void* state) {
  struct pool* pool = user;
  pthread_t threads[2 * PARTS];
  struct piece pieces[2 * PARTS];
  ++pool->calls, pool->count = count, pool->task = task, pool->state = state;
  if (pool->skip) return;
  for (int i = 0; i < count; ++i) {
    pieces[i].pool = pool, pieces[i].index = i;
    CHECK(pthread_create(&threads[i], NULL, run_piece, &pieces[i]) == 0);
  }
  for (int i = 0; i < count; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Before anything has started the shared pool. */
static void check_callers_pool(void) {
  struct pool pool = {0, 0, 0, NULL, NULL};
  first_context* context = first_context_create();
  CHECK(context != NULL);
  CHECK(first_context_set_user_data(context, &pool) == FIRST_OK);
  CHECK(first_context_set_parallel_for(context, parallel_for) == FIRST_OK);
  CHECK(first_context_set_num_threads(context, 3) == FIRST_OK);
  CHECK_PRODUCT(first_product_ctx(context, A, B, C));
  CHECK(pool.calls == 1 && pool.count == 3);
  CHECK(first_context_set_num_threads(context, 1000) == FIRST_OK);
  CHECK_PRODUCT(first_product_ctx(context, A, B, C));
  CHECK(pool.calls == 2 && pool.count == PARTS);
  CHECK(first_context_set_num_threads(context, 1) == FIRST_OK);
  CHECK_PRODUCT(first_product_ctx(context, A, B, C));
  CHECK(pool.calls == 2);
  pool.skip = 1; /* a pool that has no time */
  CHECK(first_context_set_num_threads(context, 2) == FIRST_OK);
  CHECK_PRODUCT(first_product_ctx(context, A, B, C));
  CHECK(pool.calls == 3);
  first_context_destroy(context);
}

static void check_values(void) {
  first_context* context = first_context_create();
  CHECK(first_context_set_num_threads(context, -1) == FIRST_ERROR_INVALID_VALUE);
  CHECK(first_set_num_threads(-1) == FIRST_ERROR_INVALID_VALUE);
  CHECK(first_context_set_allocator(context, allocate, NULL) == FIRST_ERROR_INVALID_VALUE);
  CHECK(first_context_set_allocator(context, NULL, release) == FIRST_ERROR_INVALID_VALUE);
  CHECK(first_context_set_num_threads(NULL, 1) == FIRST_ERROR_NULL_POINTER);
  CHECK(first_context_set_allocator(NULL, NULL, NULL) == FIRST_ERROR_NULL_POINTER);
  CHECK(first_context_set_parallel_for(NULL, NULL) == FIRST_ERROR_NULL_POINTER);
  CHECK(first_context_set_user_data(NULL, NULL) == FIRST_ERROR_NULL_POINTER);
  float C[M * N];
  CHECK(first_product_ctx(NULL, A, B, C) == FIRST_ERROR_NULL_POINTER);
  CHECK(first_product_ctx(context, A, B, NULL) == FIRST_ERROR_NULL_POINTER);
  CHECK(first_product_ctx(context, A, B, A) == FIRST_ERROR_OVERLAP);
  CHECK(strcmp(first_error_string(FIRST_ERROR_INVALID_VALUE),
               "a number of threads is negative, or one of two functions that go together is null") == 0);
  first_context_destroy(context);
  first_context_destroy(NULL);
  first_context_destroy(first_default_context());
  CHECK_PRODUCT(first_product(A, B, C));
}

/* Out of memory in any thread and at any allocation is a code, and what was given before comes back. */
static void check_allocator(int number_of_threads) {
  first_context* context = first_context_create();
  struct crowd crowd = crowd_of(1);
  watch_first(context, &crowd);
  CHECK(first_context_set_num_threads(context, number_of_threads) == FIRST_OK);
  CHECK_PRODUCT(first_product_ctx(context, A, B, C));
  const int allocations = crowd.allocations;
  CHECK(allocations == PARTS && crowd.outstanding == 0);
  for (int i = 0; i < allocations; ++i) {
    float C[M * N];
    crowd.allocations = 0, crowd.fail_at = i;
    CHECK(first_product_ctx(context, A, B, C) == FIRST_ERROR_OUT_OF_MEMORY);
    CHECK(crowd.outstanding == 0);
  }
  CHECK_PRODUCT(first_product_ctx(context, A, B, C));
  first_context_destroy(context);
}

static void check_threads_of_contexts(void) {
  for (int wanted = PARTS; wanted >= 1; --wanted) { /* the first call makes a larger pool than the others may use */
    first_context* context = first_context_create();
    struct crowd crowd = crowd_of(wanted);
    watch_first(context, &crowd);
    CHECK(first_context_set_num_threads(context, wanted) == FIRST_OK);
    CHECK_PRODUCT(first_product_ctx(context, A, B, C));
    CHECK(crowd.count == wanted && crowd.most <= wanted);
    first_context_destroy(context);
  }
  CHECK(threads() == PARTS); /* this one and three of the pool */
}

static void* call_second(void* unused) {
  (void)unused;
  for (int i = 0; i < 5; ++i) CHECK_PRODUCT(second_product(A, B, C));
  return NULL;
}

/* The plain entries of two libraries at once, one with one thread and one with two. */
static void check_two_libraries(void) {
  struct crowd one = crowd_of(1), two = crowd_of(2);
  watch_first(first_default_context(), &one);
  CHECK(second_context_set_user_data(second_default_context(), &two) == SECOND_OK);
  CHECK(second_context_set_allocator(second_default_context(), allocate, release) == SECOND_OK);
  CHECK(first_set_num_threads(1) == FIRST_OK);
  CHECK(second_set_num_threads(2) == SECOND_OK);
  pthread_t other;
  CHECK(pthread_create(&other, NULL, call_second, NULL) == 0);
  for (int i = 0; i < 5; ++i) CHECK_PRODUCT(first_product(A, B, C));
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(one.count == 1 && pthread_equal(one.threads[0], pthread_self()));
  CHECK(one.most == 1 && two.most <= 2); /* which thread of the pool helps may change from call to call */
  CHECK(two.count >= 2);
  int callers = 0;
  for (int i = 0; i < two.count; ++i) callers += pthread_equal(two.threads[i], pthread_self());
  CHECK(callers == 0);
  forget_first(first_default_context());
  CHECK(second_context_set_allocator(second_default_context(), NULL, NULL) == SECOND_OK);
  CHECK(first_set_num_threads(0) == FIRST_OK && second_set_num_threads(0) == SECOND_OK);
}

static void* call_both(void* context) {
  for (int i = 0; i < 10; ++i) {
    CHECK_PRODUCT(first_product_ctx(context, A, B, C));
    CHECK_PRODUCT(second_product(A, B, C));
  }
  return NULL;
}

/* Many callers, of one context and of a context that all share. */
static void check_concurrent_calls(void) {
  enum { CALLERS = 4 };
  pthread_t callers[CALLERS];
  first_context* context = first_context_create();
  CHECK(first_context_set_num_threads(context, 3) == FIRST_OK);
  CHECK(second_set_num_threads(2) == SECOND_OK);
  for (int i = 0; i < CALLERS; ++i) CHECK(pthread_create(&callers[i], NULL, call_both, context) == 0);
  CHECK(second_set_num_threads(4) == SECOND_OK); /* at any time */
  for (int i = 0; i < CALLERS; ++i) CHECK(pthread_join(callers[i], NULL) == 0);
  first_context_destroy(context);
}

static int product_inside(void) {
  float C[M * N];
  return second_product(A, B, C) != 0 || memcmp(C, expected, sizeof expected) != 0;
}

/* Kernels called from callbacks of kernels, in threads of the pool. */
static void check_reentrance(void) {
  first_context* context = first_context_create();
  struct crowd crowd = crowd_of(3);
  crowd.nested = product_inside;
  watch_first(context, &crowd);
  CHECK(first_context_set_num_threads(context, 3) == FIRST_OK);
  CHECK_PRODUCT(first_product_ctx(context, A, B, C));
  CHECK(crowd.count == 3);
  first_context_destroy(context);
}

/* A child of fork has none of the pool's threads, and gets its own. */
static void check_fork(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(60);
    CHECK(threads() == 1);
    first_context* context = first_context_create();
    struct crowd crowd = crowd_of(3);
    watch_first(context, &crowd);
    CHECK(first_context_set_num_threads(context, 3) == FIRST_OK);
    CHECK_PRODUCT(first_product_ctx(context, A, B, C));
    CHECK(crowd.count == 3 && threads() == 3);
    first_context_destroy(context);
    exit(0);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int count, char** arguments) {
  const int watched = count > 1 && strcmp(arguments[1], "watched") == 0;
  fill();
  CHECK(watched || threads() == 1); /* loading has started nothing */
  check_callers_pool();
  check_allocator(1);
  CHECK(watched || threads() == 1);
  if (!watched) check_threads_of_contexts();
  check_values();
  check_allocator(2);
  check_two_libraries();
  check_concurrent_calls();
  check_reentrance();
  if (!watched) check_fork();
  return 0;
}
