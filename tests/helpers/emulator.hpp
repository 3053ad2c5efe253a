// Runs a kernel's source on the host: defines CUDA's names, and a scheduler that runs the threads of a block as fibers.
// EMULATOR_CLUSTER, if defined, is the number of blocks of a cluster; there must be as many workers.
//
// A worker (an OS thread) runs one block at a time, so several workers are several resident blocks. Shared memory is
// thread-local to the worker. A fiber yields only where it waits: at a barrier, in a warp shuffle or vote, in
// __nanosleep. A deadlock is an error, not a hang, except in a loop that spins without __nanosleep. Misaligned
// accesses, indices out of an array's bounds and shifts by too much are also errors: the compiler calls the handlers
// below.
#pragma once

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include <cmath>

#ifdef EMULATOR_SCHEDULES
#include "schedules.hpp"
#else  // Workers run freely, and take blocks in the order of their numbers.
#define EMULATOR_PLAIN
namespace emulator {
struct Schedule {
  Schedule(int, unsigned, unsigned, unsigned, bool) {}
  unsigned taken(unsigned number) { return number; }
  int enter() { return 0; }
  void pass(int) {}
  void leave(int) {}
  int below(int) { return 0; }
};
inline void begin(Schedule*, int, unsigned, const char*, size_t) {}
inline void inside(bool) {}
inline void touch_atomic(const void*, int) {}
inline void fence() {}
}  // namespace emulator
#endif

#define __device__
#define __host__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __shared__ static thread_local
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  unsigned count() const { return x * y * z; }
  dim3 coordinates(unsigned i) const { return {i % x, i / x % y, i / x / y}; }
};

namespace emulator {

constexpr int kMaxThreads = 1024, kLanes = 32;
constexpr size_t kStack = 64 << 10;
constexpr double kPatience = 5;  // seconds without progress, after which a spinning block is an error

enum class State { kReady, kSleeping, kBarrier, kExchange, kDone };

struct Warp {
  unsigned long long payload[kLanes], view[kLanes][kLanes];
  unsigned mask[kLanes];  // the lanes that a lane waits for in a shuffle or vote; 0 if it is in none
  const char* operation[kLanes];
};

#ifndef EMULATOR_CLUSTER
#define EMULATOR_CLUSTER 1
#endif
constexpr unsigned kCluster = EMULATOR_CLUSTER;

struct Fiber {
  State state = State::kDone;
  unsigned waits;  // at barriers of the cluster
  jmp_buf context;
  bool started = false;
};

struct Launch {
  void (*kernel)(const void*);
  const void* params;
  dim3 grid, block;
  unsigned blocks, threads, next;  // `next` is the next block to run, `blocks` the end of the range
  char error[256];
  Schedule* schedule;
  unsigned* arrivals;  // by cluster: how often threads arrived at barriers
  char** shared;       // by block: the shared memory of a block that runs, else null
};

struct Worker {
  Launch* launch;
  char* stacks;
  Fiber fibers[kMaxThreads];
  Warp warps[kMaxThreads / kLanes];
  jmp_buf scheduler;
  ucontext_t creator;
  int number, current, arrived, votes, result;
  bool progress;
  char error[256];
};

static thread_local Worker* worker;

}  // namespace emulator

// Its address stands for a worker's shared memory: all thread-local memory of a worker is at fixed distances from it.
static thread_local char shared_memory;
static thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

[[noreturn]] EMULATOR_PLAIN __noinline__ static void fail(const char* what) {
  Worker& w = *worker;
  snprintf(w.error, sizeof w.error, "block %u, thread %d: %s", blockIdx.x, w.current, what);
  _longjmp(w.scheduler, 1);
}

EMULATOR_PLAIN __noinline__ static void give_way(State state) {
  Worker& w = *worker;
  Fiber& self = w.fibers[w.current];
  self.state = state;
  if (state != State::kSleeping) w.progress = true;
  if (_setjmp(self.context) == 0) _longjmp(w.scheduler, 1);
}

#ifdef EMULATOR_SCHEDULES
// Yields between two statements. It does not count as progress, so that endless spinning is detected.
EMULATOR_PLAIN __noinline__ static void preempt() {
  Worker& w = *worker;
  Fiber& self = w.fibers[w.current];
  self.state = State::kReady;
  if (_setjmp(self.context) == 0) _longjmp(w.scheduler, 1);
}
#endif

EMULATOR_PLAIN static void fiber_main() {
  for (;;) {
    worker->launch->kernel(worker->launch->params);
    give_way(State::kDone);
  }
}

EMULATOR_PLAIN __noinline__ static void resume(int index) {
  Worker& w = *worker;
  Fiber& fiber = w.fibers[index];
  w.current = index;
  threadIdx = blockDim.coordinates(static_cast<unsigned>(index));
  if (_setjmp(w.scheduler) != 0) return inside(false);
  inside(true);
  if (fiber.started) _longjmp(fiber.context, 1);
  fiber.started = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = w.stacks + index * kStack;
  context.uc_stack.ss_size = kStack;
  context.uc_link = nullptr;
  makecontext(&context, fiber_main, 0);
  swapcontext(&w.creator, &context);
}

EMULATOR_PLAIN static void describe_deadlock() {
  Worker& w = *worker;
  int count[5] = {};
  for (unsigned i = 0; i < w.launch->threads; ++i) ++count[static_cast<int>(w.fibers[i].state)];
  snprintf(w.error, sizeof w.error,
           "block %u: deadlock: %d threads at __syncthreads, %d in a warp exchange, %d spinning, %d returned",
           blockIdx.x, count[2], count[3], count[1], count[4]);
}

EMULATOR_PLAIN static double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Every other round runs the threads in reverse order, which reveals missing barriers.
EMULATOR_PLAIN static void run_block(unsigned block) {
  Worker& w = *worker;
  const int threads = static_cast<int>(w.launch->threads);
  blockIdx = gridDim.coordinates(block);
  w.arrived = w.votes = 0;
  memset(w.warps, 0, sizeof w.warps);
  for (int i = 0; i < threads; ++i) w.fibers[i].state = State::kReady, w.fibers[i].waits = 0;
  double last_progress = now();
  begin(w.launch->schedule, w.number, block, w.stacks, w.launch->threads * kStack);
  for (unsigned round = 0;; ++round) {
    int done = 0, ran = 0;
    const int start = w.launch->schedule->below(threads);
    w.progress = false;
    for (int i = 0; i < threads; ++i) {
      const int place = (start + i) % threads, index = (round + block) % 2 ? threads - 1 - place : place;
      const State state = w.fibers[index].state;
      if (state == State::kReady || state == State::kSleeping) {
        resume(index);
        if (w.error[0]) return;
        if (w.launch->schedule->below(8) == 0) w.launch->schedule->pass(w.number);
        ++ran;
      }
      done += w.fibers[index].state == State::kDone;
    }
    if (done == threads) return;
    if (w.progress) {
      last_progress = now();
    } else if (ran == 0 || now() - last_progress > kPatience || w.launch->error[0]) {
      return describe_deadlock();
    } else {
      sched_yield();
    }
  }
}

EMULATOR_PLAIN static void* work(void* launch_) {
  Launch* launch = static_cast<Launch*>(launch_);
  Worker* w = new Worker{};
  const size_t size = launch->threads * kStack;
  w->launch = launch;
  w->stacks = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  worker = w;
  blockDim = launch->block, gridDim = launch->grid;
  w->number = launch->schedule->enter();
  while (!launch->error[0]) {
    const unsigned block = __atomic_fetch_add(&launch->next, 1u, __ATOMIC_SEQ_CST);
    if (block >= launch->blocks) break;
    char** shared = &launch->shared[launch->schedule->taken(block)];
    __atomic_store_n(shared, &shared_memory, __ATOMIC_SEQ_CST);
    run_block(launch->schedule->taken(block));
    __atomic_store_n(shared, nullptr, __ATOMIC_SEQ_CST);
    if (w->error[0] && !launch->error[0]) memcpy(launch->error, w->error, sizeof w->error);
  }
  launch->schedule->leave(w->number);
  munmap(w->stacks, size);
  delete w;
  return nullptr;
}

static thread_local char last_error[256];

// The blocks of a grid from `first` up to, but not including, `end`.
struct Range {
  unsigned first, end;
};

// Returns null, or an error message.
static const char* emulate(void (*kernel)(const void*), const void* params, dim3 grid, dim3 block, Range blocks,
                           int workers, unsigned seed, bool shuffled) {
  Schedule schedule(workers, blocks.first, blocks.end - blocks.first, seed, shuffled);
  Launch launch{kernel, params, grid, block, blocks.end, block.count(), blocks.first, {}, &schedule,
                static_cast<unsigned*>(calloc(grid.count(), sizeof(unsigned))),
                static_cast<char**>(calloc(grid.count(), sizeof(char*)))};
  pthread_t handles[64];
  for (int i = 0; i < workers; ++i) pthread_create(&handles[i], nullptr, work, &launch);
  for (int i = 0; i < workers; ++i) pthread_join(handles[i], nullptr);
  free(launch.arrivals), free(launch.shared);
  memcpy(last_error, launch.error, sizeof last_error);
  return last_error[0] ? last_error : nullptr;
}

template <class Params>
struct Kernel {
  static inline void (*entry)(Params);
  static void call(const void* params) { entry(*static_cast<const Params*>(params)); }
};

template <class Params>
const char* emulate(void (*entry)(Params), const void* params, dim3 grid, dim3 block, Range blocks, int workers,
                    unsigned seed = 0, bool shuffled = false) {
  Kernel<Params>::entry = entry;
  return emulate(Kernel<Params>::call, params, grid, block, blocks, workers, seed, shuffled);
}

template <class Params>
const char* emulate(void (*entry)(Params), const void* params, dim3 grid, dim3 block, int workers) {
  return emulate(entry, params, grid, block, Range{0, grid.count()}, workers);
}

EMULATOR_PLAIN __noinline__ static int barrier(bool vote) {
  Worker& w = *worker;
  const int threads = static_cast<int>(w.launch->threads);
  w.votes += vote;
  if (++w.arrived == threads) {
    w.result = w.votes;
    w.arrived = w.votes = 0;
    for (int i = 0; i < threads; ++i) w.fibers[i].state = State::kReady;
    w.progress = true;
  } else {
    give_way(State::kBarrier);
  }
  return w.result;
}

// Each lane of `mask` passes a value, and gets the values of all of them.
EMULATOR_PLAIN __noinline__ static const unsigned long long* exchange(unsigned mask, unsigned long long value,
                                                                      const char* operation) {
  Worker& w = *worker;
  const int lane = w.current % kLanes, first = w.current - lane;
  Warp& warp = w.warps[w.current / kLanes];
  if (!(mask >> lane & 1)) fail("a lane is not in the mask of its own warp exchange");
  warp.payload[lane] = value, warp.mask[lane] = mask, warp.operation[lane] = operation;
  bool complete = true;
  for (int i = 0; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    if (first + i >= static_cast<int>(w.launch->threads) || w.fibers[first + i].state == State::kDone) {
      fail("the mask of a warp exchange names a lane that has returned");
    }
    complete = complete && warp.mask[i] == mask;
    if (warp.mask[i] && strcmp(warp.operation[i], operation) != 0) fail("lanes meet in different warp exchanges");
  }
  if (!complete) {
    give_way(State::kExchange);
    return warp.view[lane];
  }
  for (int i = 0; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    memcpy(warp.view[i], warp.payload, sizeof warp.payload);
    warp.mask[i] = 0;
    w.fibers[first + i].state = State::kReady;
  }
  w.progress = true;
  return warp.view[lane];
}

template <class T>
T shuffle_from(unsigned mask, T x, int from, const char* operation) {
  unsigned long long bits = 0;
  memcpy(&bits, &x, sizeof x);
  const unsigned long long* all = exchange(mask, bits, operation);
  if (!(mask >> from & 1)) fail("a shuffle reads a lane that is not in its mask");
  memcpy(&x, &all[from], sizeof x);
  return x;
}

inline int lane() { return worker->current % kLanes; }

// A parameter from which the compiler does not deduce T.
template <class T>
struct Plain {
  using type = T;
};
template <class T>
using plain = typename Plain<T>::type;

}  // namespace emulator

inline void __syncthreads() { emulator::barrier(false); }
inline int __syncthreads_count(int p) { return emulator::barrier(p != 0); }
inline int __syncthreads_or(int p) { return emulator::barrier(p != 0) > 0; }
inline int __syncthreads_and(int p) { return emulator::barrier(p != 0) == static_cast<int>(blockDim.count()); }
inline void __syncwarp(unsigned mask = ~0u) { emulator::exchange(mask, 0, "__syncwarp"); }
inline void __nanosleep(unsigned) { emulator::give_way(emulator::State::kSleeping); }
EMULATOR_PLAIN inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST), emulator::fence(); }
EMULATOR_PLAIN inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
[[noreturn]] inline void __trap() { emulator::fail("__trap"); }

template <class T>
T __shfl_sync(unsigned mask, T x, int from, int width = 32) {
  return emulator::shuffle_from(mask, x, (emulator::lane() & -width) | (from & (width - 1)), "__shfl_sync");
}
template <class T>
T __shfl_xor_sync(unsigned mask, T x, int bits, int width = 32) {
  const int from = emulator::lane() ^ bits;
  const int lane = emulator::lane(), outside = (from & -width) > lane;
  return emulator::shuffle_from(mask, x, outside ? lane : from, "__shfl_xor_sync");
}
template <class T>
T __shfl_up_sync(unsigned mask, T x, unsigned distance, int width = 32) {
  const int lane = emulator::lane(), from = lane - static_cast<int>(distance);
  return emulator::shuffle_from(mask, x, from < (lane & -width) ? lane : from, "__shfl_up_sync");
}
template <class T>
T __shfl_down_sync(unsigned mask, T x, unsigned distance, int width = 32) {
  const int lane = emulator::lane(), from = lane + static_cast<int>(distance);
  return emulator::shuffle_from(mask, x, from > (lane | (width - 1)) ? lane : from, "__shfl_down_sync");
}

// All lanes of the warp that have not returned, even if the warp has diverged.
inline unsigned __activemask() {
  emulator::Worker& w = *emulator::worker;
  unsigned mask = 0;
  for (int i = 0, first = w.current & -emulator::kLanes; i < emulator::kLanes; ++i) {
    const bool here = first + i < static_cast<int>(blockDim.count());
    mask |= unsigned(here && w.fibers[first + i].state != emulator::State::kDone) << i;
  }
  return mask;
}
inline unsigned __ballot_sync(unsigned mask, int p) {
  const unsigned long long* all = emulator::exchange(mask, p != 0, "__ballot_sync");
  unsigned result = 0;
  for (int i = 0; i < emulator::kLanes; ++i) result |= unsigned((mask >> i & 1) && all[i]) << i;
  return result;
}
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, p) == mask; }
template <class T>
unsigned __match_any_sync(unsigned mask, T x) {
  unsigned long long bits = 0;
  memcpy(&bits, &x, sizeof x);
  const unsigned long long* all = emulator::exchange(mask, bits, "__match_any_sync");
  unsigned result = 0;
  for (int i = 0; i < emulator::kLanes; ++i) result |= unsigned((mask >> i & 1) && all[i] == bits) << i;
  return result;
}

namespace emulator {
template <class T, class Op>
T reduce(unsigned mask, T x, Op op, const char* operation) {
  const unsigned long long* all = exchange(mask, static_cast<unsigned long long>(x), operation);
  bool first = true;
  T result{};
  for (int i = 0; i < kLanes; ++i) {
    if (mask >> i & 1) result = first ? static_cast<T>(all[i]) : op(result, static_cast<T>(all[i])), first = false;
  }
  return result;
}
}  // namespace emulator

#define EMULATOR_REDUCE(name, T, expression)                                          \
  inline T name(unsigned mask, T x) {                                                 \
    return emulator::reduce(mask, x, [](T a, T b) -> T { return expression; }, #name); \
  }
EMULATOR_REDUCE(__reduce_add_sync, unsigned, a + b)
EMULATOR_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
EMULATOR_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
EMULATOR_REDUCE(__reduce_add_sync, int, a + b)
EMULATOR_REDUCE(__reduce_min_sync, int, a < b ? a : b)
EMULATOR_REDUCE(__reduce_max_sync, int, a > b ? a : b)
EMULATOR_REDUCE(__reduce_and_sync, unsigned, a& b)
EMULATOR_REDUCE(__reduce_or_sync, unsigned, a | b)
EMULATOR_REDUCE(__reduce_xor_sync, unsigned, a ^ b)

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= (x >> i & 1) << (31 - i);
  return r;
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

template <class T>
T __ldg(const T* from) { return *from; }
template <class T>
T __ldcg(const T* from) { return *from; }
template <class T>
T __ldcs(const T* from) { return *from; }
template <class T>
T __ldcv(const T* from) { return *const_cast<const volatile T*>(from); }
template <class T>
void __stcg(T* to, emulator::plain<T> x) { *to = x; }
template <class T>
void __stcs(T* to, emulator::plain<T> x) { *to = x; }

namespace emulator {
inline unsigned* arrivals() { return &worker->launch->arrivals[blockIdx.x / kCluster]; }
template <class T, class Op>
EMULATOR_PLAIN T update(T* at, Op op) {
  touch_atomic(at, sizeof(T));
  T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &old, op(old), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}
}  // namespace emulator

// The barrier of a cluster: all threads of its blocks arrive, then wait.
inline void __cluster_barrier_arrive() {
  __threadfence();
  emulator::update(emulator::arrivals(), [](unsigned count) { return count + 1; });
}
inline void __cluster_barrier_wait() {
  emulator::Worker& w = *emulator::worker;
  const unsigned wanted = ++w.fibers[w.current].waits * emulator::kCluster * blockDim.count();
  while (emulator::update(emulator::arrivals(), [](unsigned count) { return count; }) < wanted) {
    emulator::give_way(emulator::State::kSleeping);
  }
  w.progress = true;
}
// Where an object of shared memory is in another block of the cluster.
inline void* __cluster_map_shared_rank(const void* mine, unsigned rank) {
  const unsigned block = blockIdx.x / emulator::kCluster * emulator::kCluster + rank;
  char* base = __atomic_load_n(&emulator::worker->launch->shared[block], __ATOMIC_SEQ_CST);
  if (rank >= emulator::kCluster || !base) emulator::fail("a block of the cluster does not run, so its memory is not there");
  return base + (static_cast<const char*>(mine) - &shared_memory);
}

namespace emulator {
// The same for floating point, whose bits are compared.
template <class Bits, class T, class Op>
T update_bits(T* at, Op op) {
  const Bits old = update(reinterpret_cast<Bits*>(at), [=](Bits bits) {
    const T changed = op(__builtin_bit_cast(T, bits));
    return __builtin_bit_cast(Bits, changed);
  });
  return __builtin_bit_cast(T, old);
}
}  // namespace emulator

// The atomic functions of CUDA C++, for the types that it has.
#define EMULATOR_ATOMIC(name, T, expression)                                         \
  inline T name(T* at, T x) {                                                        \
    return emulator::update(at, [=]([[maybe_unused]] T old) -> T { return expression; }); \
  }
#define EMULATOR_ATOMIC_32(name, expression) \
  EMULATOR_ATOMIC(name, int, expression)     \
  EMULATOR_ATOMIC(name, unsigned, expression)
#define EMULATOR_ATOMIC_64(name, expression)      \
  EMULATOR_ATOMIC(name, long long, expression)    \
  EMULATOR_ATOMIC(name, unsigned long long, expression)
EMULATOR_ATOMIC_32(atomicAdd, old + x)
EMULATOR_ATOMIC(atomicAdd, unsigned long long, old + x)
EMULATOR_ATOMIC_32(atomicSub, old - x)
EMULATOR_ATOMIC_32(atomicMax, old > x ? old : x)
EMULATOR_ATOMIC_64(atomicMax, old > x ? old : x)
EMULATOR_ATOMIC_32(atomicMin, old < x ? old : x)
EMULATOR_ATOMIC_64(atomicMin, old < x ? old : x)
EMULATOR_ATOMIC_32(atomicOr, old | x)
EMULATOR_ATOMIC_64(atomicOr, old | x)
EMULATOR_ATOMIC_32(atomicAnd, old & x)
EMULATOR_ATOMIC_64(atomicAnd, old & x)
EMULATOR_ATOMIC_32(atomicXor, old ^ x)
EMULATOR_ATOMIC_64(atomicXor, old ^ x)
EMULATOR_ATOMIC_32(atomicExch, x)
EMULATOR_ATOMIC(atomicExch, unsigned long long, x)
inline float atomicAdd(float* at, float x) { return emulator::update_bits<unsigned>(at, [=](float old) { return old + x; }); }
inline double atomicAdd(double* at, double x) {
  return emulator::update_bits<unsigned long long>(at, [=](double old) { return old + x; });
}
inline float atomicExch(float* at, float x) { return emulator::update_bits<unsigned>(at, [=](float) { return x; }); }
inline unsigned atomicInc(unsigned* at, unsigned last) {
  return emulator::update(at, [=](unsigned old) { return old >= last ? 0 : old + 1; });
}
#define EMULATOR_CAS(T)                                                                               \
  EMULATOR_PLAIN inline T atomicCAS(T* at, T compare, T x) {                                          \
    emulator::touch_atomic(at, sizeof(T));                                                            \
    __atomic_compare_exchange_n(at, &compare, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
    return compare;                                                                                   \
  }
EMULATOR_CAS(int)
EMULATOR_CAS(unsigned)
EMULATOR_CAS(unsigned short)
EMULATOR_CAS(unsigned long long)

// The functions that -fsanitize=alignment,bounds,shift-exponent calls. They are hidden, so that they do not replace the
// sanitizer's own in other libraries.
extern "C" {
__attribute__((visibility("hidden"))) void __ubsan_handle_type_mismatch_v1(void*, unsigned long) {
  emulator::fail("misaligned access");
}
__attribute__((visibility("hidden"))) void __ubsan_handle_out_of_bounds(void*, unsigned long) {
  emulator::fail("index out of an array's bounds");
}
__attribute__((visibility("hidden"))) void __ubsan_handle_shift_out_of_bounds(void*, unsigned long, unsigned long) {
  emulator::fail("shift by as many bits as there are, or more");
}
}
