// A wave on the host. Each lane is a context of its own and runs until it needs the others. Lanes that wait at the same
// place, by the calls that led there, go on together; those at the earliest place first, as lanes inside a branch do
// before the ones behind it. Needs frame pointers and code in the order of its text: gcc -O0. WAVE is 32 or 64 lanes.
// With CUDA defined the intrinsics are CUDA's, else HIP's.
#pragma once
#include <ucontext.h>

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define __device__
#define __global__
#define __host__
#define __shared__ static
#define __forceinline__ inline

struct Place {
  unsigned x, y, z;
};
static Place threadIdx, blockIdx, blockDim;
static const int warpSize = WAVE;
static const unsigned long long POISON = 0xdeadbeefdeadbeefull;  // what a shuffle reads from a lane that is not there

struct Lane {
  ucontext_t context;
  std::vector<char> stack;
  bool waits = false, done = false;
  std::vector<char*> place;  // where it waits: return addresses, outermost first
  unsigned long long given = 0, active = 0;
  unsigned long long values[64];
};

static Lane lanes[64];
static int current;
static unsigned first_thread;
static ucontext_t scheduler;
static std::function<void()> work;
static std::vector<int> events;  // fences and barriers of lane 0, in order

static void begin() {
  work();
  lanes[current].done = true;
  swapcontext(&lanes[current].context, &scheduler);
}

static void resume(int lane) {
  current = lane;
  threadIdx = {first_thread + lane, 0, 0};
  swapcontext(&scheduler, &lanes[lane].context);
}

// One wave of a block: `count` of its lanes are there.
static void run_wave(unsigned first, int count, std::function<void()> kernel) {
  first_thread = first, work = kernel;
  for (int i = 0; i < count; ++i) {
    Lane& lane = lanes[i];
    lane.waits = lane.done = false;
    lane.stack.resize(1 << 16);
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.data();
    lane.context.uc_stack.ss_size = lane.stack.size();
    lane.context.uc_link = &scheduler;
    makecontext(&lane.context, begin, 0);
  }
  for (;;) {
    for (int i = 0; i < count; ++i)
      if (!lanes[i].done && !lanes[i].waits) resume(i);
    const std::vector<char*>* place = nullptr;
    for (int i = 0; i < count; ++i)
      if (!lanes[i].done && (place == nullptr || lanes[i].place < *place)) place = &lanes[i].place;
    if (place == nullptr) return;
    unsigned long long active = 0, values[64] = {};
    for (int i = 0; i < count; ++i)
      if (!lanes[i].done && lanes[i].place == *place) active |= 1ull << i, values[i] = lanes[i].given;
    for (int i = 0; i < count; ++i)
      if (active >> i & 1) {
        lanes[i].active = active, lanes[i].waits = false;
        memcpy(lanes[i].values, values, sizeof values);
      }
  }
}

static void run_block(unsigned threads, std::function<void()> kernel) {
  blockDim = {threads, 1, 1}, blockIdx = {0, 0, 0};
  for (unsigned first = 0; first < threads; first += WAVE)
    run_wave(first, threads - first < WAVE ? threads - first : WAVE, kernel);
}

// Hands a value to the other lanes and waits for theirs.
static Lane& meet(unsigned long long given) {
  Lane& lane = lanes[current];
  char *low = lane.stack.data(), *high = low + lane.stack.size();
  lane.place.clear();
  char** frame = (char**)__builtin_frame_address(0);
  for (; (char*)frame >= low && (char*)frame < high; frame = (char**)frame[0])
    lane.place.insert(lane.place.begin(), frame[1]);
  lane.given = given, lane.waits = true;
  swapcontext(&lane.context, &scheduler);
  return lane;
}

template <typename T>
static T shuffled(T value, int from) {
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof(T));
  Lane& lane = meet(bits);
  bits = from >= 0 && from < 64 && lane.active >> from & 1 ? lane.values[from] : POISON;
  memcpy(&value, &bits, sizeof(T));
  return value;
}

static unsigned long long voted(int predicate) {
  Lane& lane = meet(predicate != 0);
  unsigned long long votes = 0;
  for (int i = 0; i < 64; ++i)
    if (lane.active >> i & 1 && lane.values[i]) votes |= 1ull << i;
  return votes;
}

template <typename T>
static T shfl(T value, int from, int width = WAVE) {
  return shuffled(value, (current & ~(width - 1)) + (from & (width - 1)));
}
template <typename T>
static T shfl_up(T value, unsigned delta, int width = WAVE) {
  int from = current - (int)delta;
  return shuffled(value, from < (current & ~(width - 1)) ? current : from);
}
template <typename T>
static T shfl_down(T value, unsigned delta, int width = WAVE) {
  return shuffled(value, (int)((current & (width - 1)) + delta) >= width ? current : current + (int)delta);
}
template <typename T>
static T shfl_xor(T value, int mask, int width = WAVE) {
  int from = current ^ mask;
  return shuffled(value, from >= ((current + width) & ~(width - 1)) ? current : from);
}

static unsigned __lane_id() { return current; }
static int __popc(unsigned v) { return __builtin_popcount(v); }
static int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static int __ffs(int v) { return __builtin_ffs(v); }
static int __ffsll(unsigned long long v) { return __builtin_ffsll(v); }
static int __clz(int v) { return v ? __builtin_clz(v) : 32; }
template <typename T>
static T atomicAdd(T* at, T value) {
  T old = *at;
  *at += value;
  return old;
}

#ifdef CUDA
static unsigned matched(unsigned mask, unsigned long long bits) {
  Lane& lane = meet(bits);
  unsigned same = 0;
  for (int i = 0; i < 32; ++i)
    if (lane.active >> i & 1 && lane.values[i] == bits) same |= 1u << i;
  return same & mask;
}
template <typename T>
static unsigned long long bits_of(T key) {
  unsigned long long bits = 0;
  memcpy(&bits, &key, sizeof(T));
  return bits;
}
#define __ballot_sync(mask, predicate) ((unsigned)voted(predicate) & (mask))
#define __activemask() ((unsigned)voted(1))
#define __any_sync(mask, predicate) (((unsigned)voted(predicate) & (mask)) != 0)
#define __all_sync(mask, predicate) (((unsigned)voted(!(predicate)) & (mask)) == 0)
#define __match_any_sync(mask, key) matched(mask, bits_of(key))
#define __shfl_sync(mask, ...) shfl(__VA_ARGS__)
#define __shfl_up_sync(mask, ...) shfl_up(__VA_ARGS__)
#define __shfl_down_sync(mask, ...) shfl_down(__VA_ARGS__)
#define __shfl_xor_sync(mask, ...) shfl_xor(__VA_ARGS__)
#define __syncwarp(...) meet(0)
#else
#define __ballot(predicate) voted(predicate)
#define __any(predicate) (voted(predicate) != 0)
#define __all(predicate) (voted(!(predicate)) == 0)
#define __shfl(...) shfl(__VA_ARGS__)
#define __shfl_up(...) shfl_up(__VA_ARGS__)
#define __shfl_down(...) shfl_down(__VA_ARGS__)
#define __shfl_xor(...) shfl_xor(__VA_ARGS__)
static void fence(int order, const char* scope) {
  if (strcmp(scope, "wavefront")) abort();
  if (current == 0) events.push_back(order);
}
static void barrier() {
  if (current == 0) events.push_back(-1);
  meet(0);
}
#define __builtin_amdgcn_fence(order, scope) fence(order, scope)
#define __builtin_amdgcn_wave_barrier() barrier()
#endif

// Tiles of fixed size, as both have them.
namespace cooperative_groups {
struct thread_block {};
inline thread_block this_thread_block() { return {}; }
template <unsigned N>
struct thread_block_tile {
  static unsigned size() { return N; }
  unsigned thread_rank() const { return threadIdx.x % N; }
  template <typename T>
  T shfl_xor(T value, unsigned mask) const {
    return ::shfl_xor(value, mask, N);
  }
};
template <unsigned N>
thread_block_tile<N> tiled_partition(thread_block) {
  return {};
}
#ifdef CUDA
template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
  T operator()(T a, T b) const { return a < b ? a : b; }
};
template <unsigned N, typename T, typename Operation>
T reduce(thread_block_tile<N>, T value, Operation operation) {
  Lane& lane = meet(bits_of(value));
  int first = current / N * N;
  T result, next;
  memcpy(&result, &lane.values[first], sizeof(T));
  for (unsigned i = 1; i < N; ++i) {
    memcpy(&next, &lane.values[first + i], sizeof(T));
    result = operation(result, next);
  }
  return result;
}
struct labeled_group {
  unsigned lanes;
  unsigned size() const { return __popc(lanes); }
  unsigned thread_rank() const { return __popc(lanes & ((1u << current) - 1)); }
};
template <unsigned N, typename T>
labeled_group labeled_partition(thread_block_tile<N>, T label) {
  unsigned tile = (N == 32 ? ~0u : (1u << N) - 1) << (current / N * N);
  return {matched(tile, bits_of(label))};
}
#endif
}  // namespace cooperative_groups
