// Binary search of many values in one sorted array x1, by a search tree above x1.
//
// Entry i of level l is the last element of the i-th group of kFan^l elements. Incomplete groups have no entry. Level 0
// is x1 itself. The place of a value in a level is the number of entries before it, as in searchsorted. If it is p, the
// search continues in node p of the level below: the kFan entries from p * kFan on. A block searches the top level by
// bisection in shared memory. In every level below, a search loads one node. A thread runs several searches at once, so
// that their loads overlap.
//
//   level 1                  d               h
//   level 0 (x1)   a b c d | e f g h | i j         kFan = 4
#pragma once

#include <xpops/memory/pack.cuh>
#include <xpops/memory/slots.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// The kernel parameters, which the host writes (xpops/engine/cuda/kernels/searchsorted.py); sorter may be 0.
struct TreeParams {
  uint64 tree, x1, sorter;  // addresses
  uint64 length, levels;
};

struct SearchParams {
  uint64 out, x1, x2, sorter, tree;  // addresses; x2 may be a scalar
  uint64 length, queries, levels;
};

// The elements of x1 in sorted order, in the type of the comparison. Sorter: the dtype of the sorter, or void if none.
template <class Sorted, class Loop, class Sorter, class Index>
struct SortedElements {
  using Compute = compute_t<Loop>;
  const Sorted* x1;
  const Sorter* sorter;
  Index length;

  template <class Params>
  XPOPS_DEVICE explicit SortedElements(const Params& params)
      : x1(reinterpret_cast<const Sorted*>(params.x1)),
        sorter(reinterpret_cast<const Sorter*>(params.sorter)),
        length(static_cast<Index>(params.length)) {}

  XPOPS_DEVICE Compute operator[](Index i) const {
    if constexpr (!is_same_v<Sorter, void>) {
      // Clamps an index that is out of range, so that no place outside of x1 is read.
      const Sorter place = sorter[i];
      i = place < 0 ? 0 : static_cast<uint64>(place) < length ? static_cast<Index>(place) : length - 1;
    }
    return to_compute<Sorted, Loop, Compute>(x1[i]);
  }
};

// The memory of a level with `count` entries, in entries (tree_levels of xpops/plan/search.py): every place in the
// level above leads to a complete node.
template <int kFanBits, class Index>
XPOPS_DEVICE Index room_for(Index count) {
  return ((count >> kFanBits) + 1) << kFanBits;
}

// Writes the levels above x1, the top level first. Copies of the last element of x1 pad each level after its entries.
template <class Sorted, class Loop, class Sorter, class Index, int kFanBits, int kBlock>
XPOPS_DEVICE void build_tree(const TreeParams& params) {
  const SortedElements<Sorted, Loop, Sorter, Index> elements(params);
  auto* level = reinterpret_cast<compute_t<Loop>*>(params.tree);
  for (int bits = static_cast<int>(params.levels) * kFanBits; bits > 0; bits -= kFanBits) {
    const Index count = elements.length >> bits, room = room_for<kFanBits>(count);
    for (Index i = blockIdx.x * kBlock + threadIdx.x; i < room; i += gridDim.x * kBlock) {
      level[i] = elements[i < count ? ((i + 1) << bits) - 1 : elements.length - 1];
    }
    level += room;
  }
}

// Whether `value` is to be inserted after `element`. NaN comes after all other values, and equals itself. There is no
// branch.
template <bool kRight, class T>
XPOPS_DEVICE bool lies_behind(T value, T element) {
  return kRight ? (element <= value) | (value != value) : !(element >= value) & (element == element);
}

// Finds the places of the values among `count` entries by bisection, without branches. `places` are 0 before. All
// searches take the same number of steps.
template <bool kRight, class T, class Index, int kUnroll, class Entries>
XPOPS_DEVICE void halve(const T (&values)[kUnroll], Index (&places)[kUnroll], Index count, const Entries& entries) {
  for (Index left = count; left > 0;) {
    const Index half = (left + 1) / 2;
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if (lies_behind<kRight>(values[i], entries[places[i] + half - 1])) places[i] += half;
    }
    left -= half;
  }
}

template <int kPack, class T, int kFan>
XPOPS_DEVICE void load_node(const T* from, T (&node)[kFan]) {
#pragma unroll
  for (int j = 0; j < kFan; j += kPack) {
    Pack<T, kPack> pack;
    pack.load(from + j);
#pragma unroll
    for (int k = 0; k < kPack; ++k) node[j + k] = pack.elem[k];
  }
}

// Computes the places in a level with `count` entries from the places in the level above. The last entry of a node is
// also an entry of the level above, which has shown that the value comes before it. So it needs no comparison.
template <bool kRight, class T, class Index, int kUnroll, int kFan>
XPOPS_DEVICE void descend(const T (&values)[kUnroll], Index (&places)[kUnroll], Index count,
                          const T (&nodes)[kUnroll][kFan]) {
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    Index place = places[i] * kFan;
#pragma unroll
    for (int j = 0; j < kFan - 1; ++j) place += lies_behind<kRight>(values[i], nodes[i][j]);
    places[i] = place < count ? place : count;
  }
}

// Loads the nodes of x1 at `places`. Copies of the last element complete an incomplete node.
template <int kPack, class Sorted, class Loop, class Sorter, class Index, class T, int kUnroll, int kFan>
XPOPS_DEVICE void load_leaves(const SortedElements<Sorted, Loop, Sorter, Index>& elements,
                              const Index (&places)[kUnroll], T (&nodes)[kUnroll][kFan]) {
  bool whole = is_same_v<Sorter, void>;
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) whole &= places[i] < elements.length / kFan;
  if (whole) {
    Sorted leaves[kUnroll][kFan];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) load_node<kPack>(elements.x1 + places[i] * kFan, leaves[i]);
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
#pragma unroll
      for (int j = 0; j < kFan; ++j) nodes[i][j] = to_compute<Sorted, Loop, T>(leaves[i][j]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
#pragma unroll
      for (int j = 0; j < kFan; ++j) {
        const Index place = places[i] * kFan + j;
        nodes[i][j] = elements[place < elements.length ? place : elements.length - 1];
      }
    }
  }
}

// Computes the places in x1 from the places in the top level of the tree.
template <bool kRight, int kFanBits, int kPack, class Elements, class T, class Index, int kUnroll>
XPOPS_DEVICE void search_tree(const T* tree, int levels, const Elements& elements, const T (&values)[kUnroll],
                              Index (&places)[kUnroll]) {
  constexpr int kFan = 1 << kFanBits, kWidest = kMaxPackBytes / sizeof(T);
  for (int bits = levels * kFanBits; bits > 0;) {
    const T* level = tree += room_for<kFanBits>(elements.length >> bits);
    bits -= kFanBits;
    T nodes[kUnroll][kFan];
    if (bits > 0) {
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) {
        load_node<(kFan < kWidest ? kFan : kWidest)>(level + places[i] * kFan, nodes[i]);
      }
    } else {
      load_leaves<kPack>(elements, places, nodes);
    }
    descend<kRight>(values, places, elements.length >> bits, nodes);
  }
}

// Query: the dtype of x2; for a scalar the type in which it travels. Loop: the dtype of the comparison. kPack: the
// number of elements of x1 in one load. kTop: the most entries of the top level. If x1 is short, the top level is x1
// itself. If kTop is 0, there is no tree, and the search is a binary one in x1 itself, in global memory.
template <class Sorted, class Query, bool kScalar, class Loop, class Sorter, bool kRight, class Index, int kFanBits,
          int kPack, int kTop, int kUnroll, int kBlock>
XPOPS_DEVICE void searchsorted(const SearchParams& params) {
  using Compute = compute_t<Loop>;
  __shared__ Compute top[kTop > 0 ? kTop : 1];
  const SortedElements<Sorted, Loop, Sorter, Index> elements(params);
  const auto* tree = reinterpret_cast<const Compute*>(params.tree);
  const int levels = static_cast<int>(params.levels);
  const Index count = elements.length >> (levels * kFanBits);
  if constexpr (kTop > 0) {
    for (Index i = threadIdx.x; i < count; i += kBlock) top[i] = levels > 0 ? tree[i] : elements[i];
    __syncthreads();
  }

  constexpr uint64 kTile = kBlock * kUnroll;
  for (uint64 tile = blockIdx.x * kTile; tile < params.queries; tile += gridDim.x * kTile) {
    Compute values[kUnroll];
    Index places[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const uint64 query = tile + i * kBlock + threadIdx.x;
      places[i] = 0;
      values[i] = Compute();
      if constexpr (kScalar) {
        values[i] = to_compute<Query, Loop, Compute>(from_slots<Query>(&params.x2));
      } else if (query < params.queries) {
        values[i] = to_compute<Query, Loop, Compute>(reinterpret_cast<const Query*>(params.x2)[query]);
      }
    }
    if constexpr (kTop > 0) {
      halve<kRight>(values, places, count, top);
      search_tree<kRight, kFanBits, kPack>(tree, levels, elements, values, places);
    } else {
      halve<kRight>(values, places, count, elements);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const uint64 query = tile + i * kBlock + threadIdx.x;
      if (query < params.queries) reinterpret_cast<int64*>(params.out)[query] = static_cast<int64>(places[i]);
    }
  }
}

}  // namespace xpops
