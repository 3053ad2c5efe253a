// Nearest-neighbour upsampling of images, and its gradient.
//
// The source of an element is computed as in torch, in float32 and rounded at each step, so that both agree for every
// scale: source(place) = min(floor(place * ratio), length - 1). It never decreases. So the places with the same source
// are a run along either axis.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/index/divmod.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// One axis: the lengths of input and output, and the step in the input for one step in the output.
struct UpsampleAxis {
  int32 in, out;
  float ratio;

  XPOPS_DEVICE int32 source(int32 place) const {
    const int32 found = static_cast<int32>(floorf(static_cast<float>(place) * ratio));
    return found < in - 1 ? found : in - 1;
  }
  // The first place in the output whose source is `from` or later.
  XPOPS_DEVICE int32 first(int32 from) const {
    if (from >= in) return out;
    const float guess = static_cast<float>(from) / ratio;
    int32 place = guess < static_cast<float>(out) ? static_cast<int32>(guess) : out;
    while (place > 0 && source(place - 1) >= from) --place;
    while (place < out && source(place) < from) ++place;
    return place;
  }
};

// Slots: the output and the input of the kernel. Both are images: rows of columns of `words` words, all contiguous.
template <class Index_>
struct UpsampleParams {
  using Index = Index_;
  uint64 slots[2];
  uint64 size;                  // number of threads
  UpsampleAxis rows, columns;
  Index words;
  FastDivMod<Index> per_column, per_row, per_image;  // threads in a column; columns in a row; rows in an image
};

// The work of one thread: one word of a column, or word 0 of several columns.
template <class Params>
struct UpsamplePlace {
  using Index = typename Params::Index;
  Index image, row, column, word;

  XPOPS_DEVICE UpsamplePlace(const Params& params, uint64 thread) : image(static_cast<Index>(thread)) {
    word = params.per_column.divmod(image);
    column = params.per_row.divmod(image);
    row = params.per_image.divmod(image);
  }
};

// The offset of the first word of a column.
template <class Index>
XPOPS_DEVICE Index upsample_at(Index image, Index row, Index column, const UpsampleAxis& rows, int32 length, Index words,
                               bool of_input) {
  const Index height = static_cast<Index>(of_input ? rows.in : rows.out);
  return ((image * height + row) * static_cast<Index>(length) + column) * words;
}

// A thread writes kPack columns of one word each, or one word of a column.
template <class Word, int kPack, class Params>
XPOPS_DEVICE void upsample(const Params& params) {
  using Index = typename Params::Index;
  const uint64 thread = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= params.size) return;
  const UpsamplePlace<Params> at(params, thread);
  const Word* in = reinterpret_cast<const Word*>(params.slots[1]);
  Word* out = reinterpret_cast<Word*>(params.slots[0]);
  const Index row = static_cast<Index>(params.rows.source(static_cast<int32>(at.row)));
  const Index from = upsample_at<Index>(at.image, row, 0, params.rows, params.columns.in, params.words, true);
  const Index column = at.column * kPack;
  Pack<Word, kPack> pack;
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
    const Index source = static_cast<Index>(params.columns.source(static_cast<int32>(column) + i));
    pack.elem[i] = in[from + source * params.words + at.word];
  }
  pack.store(out + upsample_at<Index>(at.image, at.row, column, params.rows, params.columns.out, params.words, false) +
             at.word);
}

// Doubles rows and columns: a thread writes kPack columns of two rows, from half as many columns of the input.
template <class Word, int kPack, class Params>
XPOPS_DEVICE void upsample_twice(const Params& params) {
  using Index = typename Params::Index;
  const uint64 thread = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= params.size) return;
  const UpsamplePlace<Params> at(params, thread);
  const Index width = static_cast<Index>(params.columns.in), line = at.image * static_cast<Index>(params.rows.in) + at.row;
  Pack<Word, kPack / 2> half;
  half.load(reinterpret_cast<const Word*>(params.slots[1]) + line * width + at.column * (kPack / 2));
  Pack<Word, kPack> pack;
#pragma unroll
  for (int i = 0; i < kPack; ++i) pack.elem[i] = half.elem[i / 2];
  Word* out = reinterpret_cast<Word*>(params.slots[0]) + line * 4 * width + at.column * kPack;
  pack.store(out);
  pack.store(out + 2 * width);
}

// The gradient: a thread computes kPack words of a column. Each is the sum of all words that have it as their source,
// from left to right in each row, and from the top row to the bottom row.
template <class T, int kPack, class Params>
XPOPS_DEVICE void upsample_backward(const Params& params) {
  using Index = typename Params::Index;
  using Compute = compute_t<T>;
  const uint64 thread = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= params.size) return;
  const UpsamplePlace<Params> at(params, thread);
  const T* in = reinterpret_cast<const T*>(params.slots[1]);
  const int32 top = params.rows.first(static_cast<int32>(at.row)), bottom = params.rows.first(at.row + 1);
  const int32 left = params.columns.first(static_cast<int32>(at.column)), right = params.columns.first(at.column + 1);
  const Index word = at.word * kPack;
  Compute sums[kPack] = {};
  for (int32 row = top; row < bottom; ++row) {
    const T* from = in + word + upsample_at<Index>(at.image, row, left, params.rows, params.columns.out, params.words, false);
    for (int32 column = left; column < right; ++column, from += params.words) {
      Pack<T, kPack> pack;
      pack.load(from);
#pragma unroll
      for (int i = 0; i < kPack; ++i) sums[i] += cast<Compute>(pack.elem[i]);
    }
  }
  Pack<T, kPack> result;
#pragma unroll
  for (int i = 0; i < kPack; ++i) result.elem[i] = cast<T>(sums[i]);
  result.store(reinterpret_cast<T*>(params.slots[0]) + word +
               upsample_at<Index>(at.image, at.row, at.column, params.rows, params.columns.in, params.words, true));
}

// The gradient of upsample_twice, for images of one word in each column: a thread computes kPack columns from two rows.
template <class T, int kPack, class Params>
XPOPS_DEVICE void upsample_twice_backward(const Params& params) {
  using Index = typename Params::Index;
  using Compute = compute_t<T>;
  const uint64 thread = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= params.size) return;
  const UpsamplePlace<Params> at(params, thread);
  const Index width = static_cast<Index>(params.columns.in), line = at.image * static_cast<Index>(params.rows.in) + at.row;
  const T* from = reinterpret_cast<const T*>(params.slots[1]) + line * 4 * width + at.column * (2 * kPack);
  Pack<T, kPack> pieces[2][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) pieces[i / 2][i % 2].load(from + i / 2 * 2 * width + i % 2 * kPack);
  Pack<T, kPack> result;
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
    Compute sum = Compute(0);
#pragma unroll
    for (int row = 0; row < 2; ++row) {
#pragma unroll
      for (int j = 2 * i; j < 2 * i + 2; ++j) sum += cast<Compute>(pieces[row][j / kPack].elem[j % kPack]);
    }
    result.elem[i] = cast<T>(sum);
  }
  result.store(reinterpret_cast<T*>(params.slots[0]) + line * width + at.column * kPack);
}

}  // namespace xpops
