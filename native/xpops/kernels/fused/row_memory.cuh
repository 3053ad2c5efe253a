// The operands of rows, in global and in shared memory.
#pragma once

#include <xpops/kernels/elementwise.cuh>
#include <xpops/memory/stage.cuh>

namespace xpops {

// Whether an operand has the order of the result.
template <class Operand>
constexpr bool kIsLinear = Operand::kMode == Mode::kLinear || Operand::kMode == Mode::kShifted;

// A contiguous operand that is one row, the same for all rows: its address is that of a column.
template <class Operand>
struct OneRow : Operand {
  static constexpr bool kIsOneRow = true;
};
template <class Operand, class = void>
constexpr bool kIsOneRow = false;
template <class Operand>
constexpr bool kIsOneRow<Operand, enable_if_t<Operand::kIsOneRow>> = true;

// The operands in the order of the result; those that are one row; all others.
enum class Kind { kLinear, kOneRow, kOther };
template <class Operand>
constexpr Kind kKind = kIsLinear<Operand> ? Kind::kLinear : kIsOneRow<Operand> ? Kind::kOneRow : Kind::kOther;

// Loads the operands of some kinds: the pack at `linear`, which begins in `column` of its row, and does not leave that.
template <Kind... kKinds, int kPack, class Params>
XPOPS_DEVICE void load_some(const Params&, typename Params::Index, typename Params::Index, Fragments<kPack>&) {}
template <Kind... kKinds, int kPack, class Params, class Head, class... Tail>
XPOPS_DEVICE void load_some(const Params& params, typename Params::Index linear, typename Params::Index column,
                            Fragments<kPack, Head, Tail...>& to) {
  if constexpr (((kKind<Head> == kKinds) || ...)) {
    if constexpr (kIsOneRow<Head>) to.head.pack.load(Head::base(params) + column);
    else Head::load_in_row(params, linear, to.head);
  }
  load_some<kKinds...>(params, linear, column, to.tail);
}

// Copies the operands that are one row.
template <int kPack>
XPOPS_DEVICE void copy_one_rows(const Fragments<kPack>&, Fragments<kPack>&) {}
template <int kPack, class Head, class... Tail>
XPOPS_DEVICE void copy_one_rows(const Fragments<kPack, Head, Tail...>& from, Fragments<kPack, Head, Tail...>& to) {
  if constexpr (kIsOneRow<Head>) to.head = from.head;
  copy_one_rows(from.tail, to.tail);
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
