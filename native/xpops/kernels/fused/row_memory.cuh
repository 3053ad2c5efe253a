// The operands of rows, in global and in shared memory.
#pragma once

#include <xpops/kernels/elementwise.cuh>
#include <xpops/memory/stage.cuh>

namespace xpops {

// Whether an operand has the order of the result.
template <class Operand>
constexpr bool kIsLinear = Operand::kMode == Mode::kLinear || Operand::kMode == Mode::kShifted;

// Loads the operands in the order of the result if kLinear, else all others. No pack leaves its row.
template <bool kLinear, int kPack, class Params>
XPOPS_DEVICE void load_some(const Params&, typename Params::Index, Fragments<kPack>&) {}
template <bool kLinear, int kPack, class Params, class Head, class... Tail>
XPOPS_DEVICE void load_some(const Params& params, typename Params::Index linear, Fragments<kPack, Head, Tail...>& to) {
  if constexpr (kIsLinear<Head> == kLinear) Head::load_in_row(params, linear, to.head);
  load_some<kLinear>(params, linear, to.tail);
}

// A pack in shared memory, by its number among `count` packs. The packs of the next operand follow.
struct StagedPlace {
  unsigned char* packs;
  uint64 number, count;

  template <class Stored>
  XPOPS_DEVICE Stored* pack() const {
    return reinterpret_cast<Stored*>(packs) + number;
  }
  // The host computes the same size (xpops/plan/fused/rows.py).
  template <class Stored>
  XPOPS_DEVICE StagedPlace next() const {
    return {packs + (count * sizeof(Stored) + (kMaxPackBytes - 1)) / kMaxPackBytes * kMaxPackBytes, number, count};
  }
};

// Copies operands in the order of the result to shared memory, and reads them from there.
template <int kPack, class... In>
struct StagedRow {
  static constexpr int kRepeated = 0;
  static constexpr bool kCopies = true;
  template <class Params>
  XPOPS_DEVICE static void fetch(const Params&, typename Params::Index, const StagedPlace&) {}
  XPOPS_DEVICE static void read(const StagedPlace&, Fragments<kPack>&) {}
};

template <int kPack, class Head, class... Tail>
struct StagedRow<kPack, Head, Tail...> {
  using Fragment = typename Head::template Fragment<kPack>;
  using Stored = decltype(Fragment::pack);
  using Rest = StagedRow<kPack, Tail...>;
  // The bytes of the packs of arrays that are not in the order of the result.
  static constexpr bool kRepeats = !kIsLinear<Head> && Head::kMode != Mode::kScalar && Head::kMode != Mode::kUniform;
  static constexpr int kRepeated = Rest::kRepeated + (kRepeats ? int(sizeof(Stored)) : 0);

  // Whether packs go past the registers, so that nothing waits for them.
  static constexpr bool kPast = Head::kMode == Mode::kLinear && sizeof(Stored) == kMaxPackBytes;
  static constexpr bool kCopies = Rest::kCopies && (kPast || !kIsLinear<Head>);

  template <class Params>
  XPOPS_DEVICE static void fetch(const Params& params, typename Params::Index linear, const StagedPlace& place) {
    if constexpr (!kIsLinear<Head>) {
      Rest::fetch(params, linear, place);
    } else {
      Stored* to = place.template pack<Stored>();
      if constexpr (kPast) {
        copy_async(to, Head::base(params) + linear);
      } else {
        Fragment loaded;
        Head::load_in_row(params, linear, loaded);
        *to = loaded.pack;
      }
      Rest::fetch(params, linear, place.template next<Stored>());
    }
  }

  XPOPS_DEVICE static void read(const StagedPlace& place, Fragments<kPack, Head, Tail...>& to) {
    if constexpr (!kIsLinear<Head>) {
      Rest::read(place, to.tail);
    } else {
      to.head.pack = *place.template pack<Stored>();
      Rest::read(place.template next<Stored>(), to.tail);
    }
  }
};

}  // namespace xpops
