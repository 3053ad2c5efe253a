// Resident blocks take turns in a random order that depends on a seed. emulator.hpp includes this header if
// EMULATOR_SCHEDULES is defined.
//
// One worker runs at a time. Between two fibers it passes the turn to a random worker. A fiber may yield at each memory
// access that the compiler reports (-fsanitize=thread; this header replaces its runtime): often at volatile and atomic
// accesses, sometimes at others. So blocks read states that are not published yet, or only half written.
//
// Plain writes of a block become visible to another block in three steps: the block executes a fence, then makes a
// volatile or atomic write, and the other block reads it. A read before that is an error in every schedule. This
// happens-before relation is between blocks, not threads: a missing barrier in a block shows only as a wrong result.
#pragma once

#define EMULATOR_PLAIN __attribute__((no_sanitize("thread")))

namespace emulator {

constexpr int kMaxWorkers = 64, kMaxBlocks = 64;
constexpr unsigned kPlaces = 1u << 21, kFlags = 1u << 14;

static void preempt();
[[noreturn]] static void fail(const char* what);

// The last plain write of a byte: its block and worker, and the number of fences that the block had executed.
struct Place {
  unsigned long long address;
  int block, worker, epoch;
};

// For an address written by volatile or atomic accesses: the number of epochs of each block that its reader may read.
struct Flag {
  unsigned long long address;
  int known[kMaxBlocks];
};

struct Schedule {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t conditions[kMaxWorkers];
  bool alive[kMaxWorkers] = {}, shuffled;
  int workers, turn, started = 0, known[kMaxBlocks][kMaxBlocks] = {}, fences[kMaxBlocks] = {};
  unsigned first, count, factor = 1, places_left = kPlaces / 2, flags_left = kFlags / 2;
  unsigned long long random;
  Place* places = static_cast<Place*>(calloc(kPlaces, sizeof(Place)));
  Flag* flags = static_cast<Flag*>(calloc(kFlags, sizeof(Flag)));

  EMULATOR_PLAIN Schedule(int workers, unsigned first, unsigned count, unsigned seed, bool shuffled)
      : shuffled(shuffled), workers(workers), first(first), count(count), random(seed * 0x9e3779b97f4a7c15ull + 1) {
    for (int i = 0; i < workers; ++i) pthread_cond_init(&conditions[i], nullptr), alive[i] = true;
    for (int i = 0; i < 8; ++i) below(2);
    turn = below(workers);
    if (shuffled) factor = coprime();
  }
  EMULATOR_PLAIN ~Schedule() { free(places), free(flags); }

  EMULATOR_PLAIN int below(int limit) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    return static_cast<int>((random >> 33) % limit);
  }
  EMULATOR_PLAIN unsigned coprime() {
    for (;;) {
      unsigned a = 1 + below(count), b = count, found = a;
      while (b) a %= b, a ^= b, b ^= a, a ^= b;
      if (a == 1) return found;
    }
  }
  // The block that starts as number `number`.
  EMULATOR_PLAIN unsigned taken(unsigned number) {
    return shuffled ? first + static_cast<unsigned>((number - first + 1ull) * factor % count) : number;
  }
  EMULATOR_PLAIN int enter() {
    const int me = __atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST);
    await(me);
    return me;
  }
  EMULATOR_PLAIN void await(int me) {
    pthread_mutex_lock(&mutex);
    while (turn != me) pthread_cond_wait(&conditions[me], &mutex);
    pthread_mutex_unlock(&mutex);
  }
  // Passes the turn. Only the worker whose turn it is may call it.
  EMULATOR_PLAIN void pass(int me) {
    int next = me;
    bool any = false;
    for (int i = 0; i < workers; ++i) any = any || alive[i];
    while (any && !alive[next = below(workers)]) {
    }
    if (next == me) return;
    pthread_mutex_lock(&mutex);
    turn = next;
    pthread_cond_signal(&conditions[next]);
    pthread_mutex_unlock(&mutex);
    if (alive[me]) await(me);
  }
  EMULATOR_PLAIN void leave(int me) {
    alive[me] = false;
    pass(me);
  }
};

// The block that this worker runs, and whether a fiber is running.
struct Running {
  Schedule* schedule;
  int worker, block;
  const char* stacks;
  size_t stacks_size;
  bool inside;
};
static thread_local Running running;

EMULATOR_PLAIN static void begin(Schedule* schedule, int worker, unsigned block, const char* stacks, size_t size) {
  running = {schedule, worker, static_cast<int>(block), stacks, size, false};
}
EMULATOR_PLAIN static void inside(bool value) { running.inside = value; }

template <class Entry>
EMULATOR_PLAIN static Entry* entry_of(Entry* table, unsigned size, unsigned& left, unsigned long long key, bool make) {
  unsigned at = static_cast<unsigned>(key * 0x9e3779b97f4a7c15ull >> 40) % size;
  while (table[at].address && table[at].address != key) at = (at + 1) % size;
  if (!table[at].address) {
    if (!make || !left) return nullptr;
    --left, table[at].address = key;
  }
  return &table[at];
}

EMULATOR_PLAIN static void synchronise(Schedule& s, unsigned long long address, bool reads, bool writes) {
  Flag* flag = entry_of(s.flags, kFlags, s.flags_left, address, writes);
  if (!flag) return;
  int* mine = s.known[running.block];
  for (int i = 0; i < kMaxBlocks; ++i) {
    if (reads && flag->known[i] > mine[i]) mine[i] = flag->known[i];
  }
  for (int i = 0; i < kMaxBlocks; ++i) {
    const int known = i == running.block ? s.fences[i] : mine[i];
    if (writes && known > flag->known[i]) flag->known[i] = known;
  }
}

// Records an access: a plain access, or one that synchronises blocks (`speaks`).
EMULATOR_PLAIN static void touch(const void* at, int size, bool reads, bool writes, bool speaks) {
  if (!running.inside) return;
  Schedule& s = *running.schedule;
  const unsigned long long address = reinterpret_cast<unsigned long long>(at);
  if (address - reinterpret_cast<unsigned long long>(running.stacks) < running.stacks_size) return;
  if (s.below(speaks ? 4 : 64) == 0) preempt();
  if (s.count > kMaxBlocks) return;
  if (speaks) synchronise(s, address, reads, writes);
  for (int i = 0; i < size; ++i) {
    Place* place = entry_of(s.places, kPlaces, s.places_left, address + i, writes && !speaks);
    if (!place) continue;
    const bool theirs = place->epoch && place->worker != running.worker && place->block != running.block;
    if (reads && theirs && s.known[running.block][place->block] < place->epoch) fail("reads another block's unfenced write");
    if (writes) *place = {address + i, running.block, running.worker, speaks ? 0 : s.fences[running.block] + 1};
  }
}

EMULATOR_PLAIN static void touch_atomic(const void* at, int size) { touch(at, size, true, true, true); }
EMULATOR_PLAIN static void fence() {
  if (running.inside && running.block < kMaxBlocks) ++running.schedule->fences[running.block];
}

}  // namespace emulator

// The functions that -fsanitize=thread calls. They are hidden, so that they do not replace the sanitizer's own.
#define EMULATOR_HOOK(name, size, reads, writes, speaks)                                        \
  __attribute__((visibility("hidden"), no_sanitize("thread"))) void __tsan_##name(void* at) { \
    emulator::touch(at, size, reads, writes, speaks);                                           \
  }
#define EMULATOR_HOOKS(size)                                    \
  EMULATOR_HOOK(read##size, size, true, false, false)           \
  EMULATOR_HOOK(write##size, size, false, true, false)          \
  EMULATOR_HOOK(volatile_read##size, size, true, false, true)   \
  EMULATOR_HOOK(volatile_write##size, size, false, true, true)  \
  EMULATOR_HOOK(unaligned_read##size, size, true, false, false) \
  EMULATOR_HOOK(unaligned_write##size, size, false, true, false)
extern "C" {
EMULATOR_HOOKS(1)
EMULATOR_HOOKS(2)
EMULATOR_HOOKS(4)
EMULATOR_HOOKS(8)
EMULATOR_HOOKS(16)
__attribute__((visibility("hidden"))) void __tsan_init() {}
EMULATOR_PLAIN __attribute__((visibility("hidden"))) void __tsan_read_range(void* at, long size) {
  emulator::touch(at, static_cast<int>(size), true, false, false);
}
EMULATOR_PLAIN __attribute__((visibility("hidden"))) void __tsan_write_range(void* at, long size) {
  emulator::touch(at, static_cast<int>(size), false, true, false);
}
EMULATOR_PLAIN __attribute__((visibility("hidden"))) void __tsan_vptr_update(void*, void*) {}
}
