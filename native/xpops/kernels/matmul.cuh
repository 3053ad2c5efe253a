// Matrix products by tiles in shared memory, for all dtypes that no library multiplies, and for any strides.
//
// A block computes kTile x kTile elements. A thread computes kCells x kCells of them, in packs spread over the tile
// (MatmulCells). The block walks the inner axis in steps of kStep. While it multiplies one step from shared memory, it
// loads the next step to registers.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/index/coordinates.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// Slots: the result, which is C-contiguous, and the two operands. Steps and strides are in elements.
template <int kRank>
struct MatmulParams {
  static constexpr int kAxes = kRank;
  uint64 slots[3];
  int64 rows, columns, inner;
  int64 row_step[2];    // strides of the first operand: from row to row, along the inner axis
  int64 column_step[2]; // strides of the second operand: from column to column, along the inner axis
  FastDivMod<uint32> tiles[2];  // across, down
  FastDivMod<uint64> divisors[kRank > 1 ? kRank - 1 : 1];
  int64 strides[2][kRank];
};

// A piece of kTile rows (or columns) x kStep inner elements of an operand. load() reads it to registers, store() writes
// it to shared memory, transposed: the inner axis comes first.
template <class Compute, class Element, class T, int kBlock, int kTile, int kStep, bool kInnerFirst>
class MatmulPiece {
 public:
  static constexpr int kPitch = kTile + 4;  // spreads the stores over the banks, and keeps packs aligned
  struct alignas(kMaxPackBytes) Shared {
    Compute at[kStep][kPitch];
  };

  // `from` is the first element of the tile's first row. `rows` counts the rows from it on, `inner` their elements.
  XPOPS_DEVICE MatmulPiece(const T* from, int64 rows, int64 inner, const int64 (&step)[2])
      : from_(from + row(0) * step[0] + at(0) * step[1]), left_(inner - at(0)), step_{step[0], step[1]} {
#pragma unroll
    for (int i = 0; i < kEach; ++i) inside_ |= uint32(row(i) < rows) << i;
  }

  // Loads the next kStep elements of each row.
  XPOPS_DEVICE void load() {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const bool has = (inside_ >> i & 1) && at(i) - at(0) < left_;
      const T* place = from_ + (row(i) - row(0)) * step_[0] + (at(i) - at(0)) * step_[1];
      held_[i] = has ? to_compute<Element, Compute, Compute>(*place) : Compute(0);
    }
    from_ += kStep * step_[1];
    left_ -= kStep;
  }

  XPOPS_DEVICE void store(Shared& to) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) to.at[at(i)][row(i)] = held_[i];
  }

 private:
  // Neighbouring threads read neighbouring elements: along the inner axis if kInnerFirst, else of neighbouring rows.
  static constexpr int kEach = kTile * kStep / kBlock, kAcross = kInnerFirst ? kStep : kTile;
  static_assert(kTile * kStep % kBlock == 0 && kBlock % kAcross == 0 && kEach <= 32, "threads share evenly");

  static XPOPS_DEVICE int across() { return static_cast<int>(threadIdx.x) % kAcross; }
  static XPOPS_DEVICE int down(int i) { return static_cast<int>(threadIdx.x) / kAcross + i * (kBlock / kAcross); }
  static XPOPS_DEVICE int row(int i) { return kInnerFirst ? down(i) : across(); }
  static XPOPS_DEVICE int at(int i) { return kInnerFirst ? across() : down(i); }

  const T* from_;
  int64 left_;
  int64 step_[2];
  uint32 inside_ = 0;
  Compute held_[kEach];
};

// The places of a thread's cells in a tile, along one axis. The cells form packs. From pack to pack the stride is
// kPack * kThreads, one pack of every thread.
template <class Compute, int kCells, int kThreads>
struct MatmulCells {
  static constexpr int kPack = kMaxPackBytes / sizeof(Compute) < kCells ? kMaxPackBytes / sizeof(Compute) : kCells;

  XPOPS_DEVICE static int place(int thread, int cell) {
    return cell / kPack * (kPack * kThreads) + thread * kPack + cell % kPack;
  }
  XPOPS_DEVICE static void load(Compute (&to)[kCells], const Compute* from, int thread) {
#pragma unroll
    for (int cell = 0; cell < kCells; cell += kPack) {
      Pack<Compute, kPack> pack;
      pack.load(from + place(thread, cell));
#pragma unroll
      for (int i = 0; i < kPack; ++i) to[cell + i] = pack.elem[i];
    }
  }
};

template <class Element, class Compute, int kTile, int kStep, int kCells, bool kInnerFirst1, bool kInnerFirst2,
          class Params>
XPOPS_DEVICE void matmul(const Params& params) {
  constexpr int kThreads = kTile / kCells, kBlock = kThreads * kThreads, kLanes = 8;
  static_assert(kThreads % kLanes == 0, "a warp is 8 threads wide");
  using T = typename Storage<Element>::type;
  using Piece1 = MatmulPiece<Compute, Element, T, kBlock, kTile, kStep, kInnerFirst1>;
  using Piece2 = MatmulPiece<Compute, Element, T, kBlock, kTile, kStep, kInnerFirst2>;
  using Cells = MatmulCells<Compute, kCells, kThreads>;
  __shared__ typename Piece1::Shared x1[2];
  __shared__ typename Piece2::Shared x2[2];

  uint32 number = blockIdx.x;
  const int64 left = static_cast<int64>(params.tiles[0].divmod(number)) * kTile;
  const int64 top = static_cast<int64>(params.tiles[1].divmod(number)) * kTile;
  const Coordinates<Params::kAxes, uint64> batch(params.divisors, number);
  const T* in1 = reinterpret_cast<const T*>(params.slots[1]) + batch.offset(params.strides[0]);
  const T* in2 = reinterpret_cast<const T*>(params.slots[2]) + batch.offset(params.strides[1]);
  Element* out = reinterpret_cast<Element*>(params.slots[0]) + number * params.rows * params.columns;
  Piece1 piece1(in1 + top * params.row_step[0], params.rows - top, params.inner, params.row_step);
  Piece2 piece2(in2 + left * params.column_step[0], params.columns - left, params.inner, params.column_step);

  const int x = lane() % kLanes + warp() % (kThreads / kLanes) * kLanes;
  const int y = lane() / kLanes + warp() / (kThreads / kLanes) * (kWarp / kLanes);
  Compute sums[kCells][kCells] = {};
  piece1.load();
  piece2.load();
  int turn = 0;
#pragma unroll 1
  for (int64 k = 0; k < params.inner; k += kStep, turn ^= 1) {
    piece1.store(x1[turn]);
    piece2.store(x2[turn]);
    __syncthreads();  // one barrier for each step is enough: the next step writes the other buffer
    if (k + kStep < params.inner) {
      piece1.load();
      piece2.load();
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      Compute a[kCells], b[kCells];
      Cells::load(a, x1[turn].at[i], y);
      Cells::load(b, x2[turn].at[i], x);
#pragma unroll
      for (int row = 0; row < kCells; ++row) {
#pragma unroll
        for (int column = 0; column < kCells; ++column) {
          sums[row][column] = sums[row][column] + a[row] * b[column];
        }
      }
    }
  }
#pragma unroll
  for (int row = 0; row < kCells; ++row) {
    const int64 at_row = top + Cells::place(y, row);
    if (at_row >= params.rows) continue;
#pragma unroll
    for (int column = 0; column < kCells; ++column) {
      const int64 at_column = left + Cells::place(x, column);
      if (at_column < params.columns) out[at_row * params.columns + at_column] = cast<Element>(sums[row][column]);
    }
  }
}

// The same product, as a reference for comparison: one thread for each element, no shared memory. Slow and simple.
template <class Element, class Compute, class Params>
XPOPS_DEVICE void matmul_reference(const Params& params) {
  using T = typename Storage<Element>::type;
  uint64 row = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  const uint64 column = row % params.columns;
  row /= params.columns;
  const uint64 number = row / params.rows;
  row %= params.rows;
  const Coordinates<Params::kAxes, uint64> batch(params.divisors, number);
  const T* in1 = reinterpret_cast<const T*>(params.slots[1]) + batch.offset(params.strides[0]);
  const T* in2 = reinterpret_cast<const T*>(params.slots[2]) + batch.offset(params.strides[1]);
  Compute sum = Compute(0);
  for (int64 k = 0; k < params.inner; ++k) {
    const T a = in1[row * params.row_step[0] + k * params.row_step[1]];
    const T b = in2[column * params.column_step[0] + k * params.column_step[1]];
    sum = sum + to_compute<Element, Compute, Compute>(a) * to_compute<Element, Compute, Compute>(b);
  }
  Element* out = reinterpret_cast<Element*>(params.slots[0]);
  out[(number * params.rows + row) * params.columns + column] = cast<Element>(sum);
}

}  // namespace xpops
