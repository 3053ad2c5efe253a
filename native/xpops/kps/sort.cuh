// Sorts the elements of a block, and optionally an index with each.
//
// The order is that of xpops.sort: -0.0 is less than 0.0, NaN is last in both directions, and the sort is stable.
#pragma once

#include <xpops/block/bitonic.cuh>
#include <xpops/core/cast.cuh>
#include <xpops/kps/warp.cuh>
#include <xpops/math/order.cuh>

namespace xpops {
namespace kps {
namespace details {

constexpr int kSortThreads = 512;  // at most

template <typename T>
XPOPS_DEVICE void Swap(T* first_value, T* second_value) {
  const T value = *first_value;
  *first_value = *second_value;
  *second_value = value;
}

// Whether two values are in the wrong order, which is ascending if monotonic_type, else descending.
template <typename T>
XPOPS_DEVICE bool Misplaced(const T& first, const T& second, int monotonic_type) {
  return monotonic_type ? second < first : first < second;
}

template <typename T>
XPOPS_DEVICE void Comparator(T* first_value, T* second_value, int monotonic_type) {
  if (Misplaced(*first_value, *second_value, monotonic_type)) Swap(first_value, second_value);
}

template <typename T, typename IndexType>
XPOPS_DEVICE void ComparatorWithIndex(T* first_value, T* second_value, IndexType* first_index, IndexType* second_index,
                                      int monotonic_type) {
  if (Misplaced(*first_value, *second_value, monotonic_type)) {
    Swap(first_value, second_value);
    Swap(first_index, second_index);
  }
}

// The largest power of two that is at most n, or 1 if n < 1.
XPOPS_HOST_DEVICE int GetLastPow2(int n) {
  n |= n >> 1;
  n |= n >> 2;
  n |= n >> 4;
  n |= n >> 8;
  n |= n >> 16;
  return n < 1 ? 1 : n - (n >> 1);
}

// The items that the network compares: a key, or a key with its original position, which makes the sort stable.
template <class Key>
struct Bare {
  Key key;
  XPOPS_DEVICE static Bare of(Key key, int) { return {key}; }
  XPOPS_DEVICE int origin() const { return 0; }  // not used
  XPOPS_DEVICE bool operator<(const Bare& other) const { return key < other.key; }
};
template <class Key>
struct Placed {
  Key key;
  int place;
  XPOPS_DEVICE static Placed of(Key key, int place) { return {key, place}; }
  XPOPS_DEVICE int origin() const { return place; }
  XPOPS_DEVICE bool operator<(const Placed& other) const {
    return key < other.key || (key == other.key && place < other.place);
  }
};

// Sorts `count` items of shared memory with all threads of the block. `count` is a power of two. A bitonic network
// merges neighbouring runs. The first step of a merge compares each item with its mirror image, so that every step
// moves the smaller item to the lower position.
template <class Item>
XPOPS_DEVICE void SortShared(Item* items, int count) {
  for (int size = 2; size <= count; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int pair = static_cast<int>(threadIdx.x); pair < count / 2; pair += static_cast<int>(blockDim.x)) {
        const int low = 2 * pair - (pair & (stride - 1));
        compare_swap(items[low], items[2 * stride == size ? low ^ (size - 1) : low + stride]);
      }
    }
  }
  __syncthreads();
}

// Shared memory for two items of each thread. Every user must begin with a barrier, because earlier users may still
// read.
template <class Item>
XPOPS_DEVICE Item* SortBuffer() {
  __shared__ Item buffer[2 * kSortThreads];
  return buffer;
}

// Sorts the first num elements, and calls give(i, value, origin) for each register i of this thread that gets one.
// `origin` is the original position of the value if Form is Placed.
template <typename InT, bool kDescending, template <class> class Form, class Give>
XPOPS_DEVICE void SortBlock(const InT* in, int num, Give give) {
  using Map = Order<InT, kDescending>;
  using Key = typename Map::Bits;
  using Item = Form<Key>;
  Item* const items = SortBuffer<Item>();
  const int threads = static_cast<int>(blockDim.x), self = static_cast<int>(threadIdx.x);
  RequireOneAxis(kSortThreads);
  num = num < 2 * threads ? num : 2 * threads;
  const int last = GetLastPow2(num), count = last < num ? 2 * last : last;
  __syncthreads();  // until all threads have read the items of an earlier call
  for (int i = num + self; i < count; i += threads) items[i] = Item::of(static_cast<Key>(~Key(0)), i);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int place = self + i * threads;
    if (place < num) items[place] = Item::of(Map::encode(__builtin_bit_cast(Key, in[i])), place);
  }
  SortShared(items, count);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int place = self + i * threads;
    if (place < num) {
      give(i, __builtin_bit_cast(InT, Map::decode(items[place].key)), items[place].origin());
    }
  }
}

}  // namespace details

// Sorts the first num elements of a block of one axis and 1 to 512 threads.
//   in              two registers: the elements threadIdx.x and threadIdx.x + blockDim.x; bool, integers, float16,
//                   bfloat16, float, double
//   out             two registers: the sorted elements at the same positions, cast to OutT. Registers of positions from
//                   num on keep their values
//   num             from 0 to 2 * blockDim.x; need not be a power of two
//   monotonic_type  1: ascending; else descending
template <typename InT, typename OutT>
XPOPS_DEVICE void Sort(OutT* out, const InT* in, int num, int monotonic_type) {
  const auto give = [=](int i, InT value, int) { out[i] = cast<OutT>(value); };
  if (monotonic_type == 1) {
    details::SortBlock<InT, false, details::Bare>(in, num, give);
  } else {
    details::SortBlock<InT, true, details::Bare>(in, num, give);
  }
}

// The same, with an index (or any value) for every element.
//   in_index   two registers: the indices of the elements of `in`
//   out_index  two registers: the indices of the elements of `out`
template <typename InT, typename OutT, typename IndexType>
XPOPS_DEVICE void Sort(OutT* out, IndexType* out_index, const InT* in, IndexType* in_index, int num,
                       int monotonic_type) {
  __shared__ IndexType indices[2 * details::kSortThreads];
  const int threads = static_cast<int>(blockDim.x), self = static_cast<int>(threadIdx.x);
  details::RequireOneAxis(details::kSortThreads);
  __syncthreads();  // until all threads have read the indices of an earlier call
  indices[self] = in_index[0];
  indices[self + threads] = in_index[1];
  const auto give = [&](int i, InT value, int origin) {
    out[i] = cast<OutT>(value);
    out_index[i] = indices[origin];
  };
  if (monotonic_type == 1) {
    details::SortBlock<InT, false, details::Placed>(in, num, give);
  } else {
    details::SortBlock<InT, true, details::Placed>(in, num, give);
  }
}

}  // namespace kps
}  // namespace xpops
