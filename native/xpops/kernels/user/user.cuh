// User-defined elementwise kernels: what they need besides elementwise.cuh and transpose/.
#pragma once

#include <xpops/kernels/fused/elementwise.cuh>
#include <xpops/user/atomic.cuh>

namespace xpops {

// A float16, bfloat16 or float8 in memory. A user's code reads and writes it as float.
template <class T>
struct NarrowCell {
  T stored;
  XPOPS_DEVICE operator float() const { return static_cast<float>(stored); }
  XPOPS_DEVICE NarrowCell& operator=(float x) {
    stored = T(x);
    return *this;
  }
  XPOPS_DEVICE NarrowCell& operator+=(float x) { return *this = *this + x; }
  XPOPS_DEVICE NarrowCell& operator-=(float x) { return *this = *this - x; }
  XPOPS_DEVICE NarrowCell& operator*=(float x) { return *this = *this * x; }
  XPOPS_DEVICE NarrowCell& operator/=(float x) { return *this = *this / x; }
};

// A bool in memory. Any byte but 0 is true, whatever program wrote it.
struct TruthCell {
  uint8 stored;
  XPOPS_DEVICE operator bool() const { return stored != 0; }
  XPOPS_DEVICE TruthCell& operator=(bool x) {
    stored = x;
    return *this;
  }

#define XPOPS_TRUTH_ASSIGNMENT(op)                                          \
  template <class T>                                                        \
  XPOPS_DEVICE TruthCell& operator op##=(T x) {                             \
    return *this = static_cast<bool>(static_cast<bool>(*this) op x);        \
  }
  XPOPS_TRUTH_ASSIGNMENT(|)
  XPOPS_TRUTH_ASSIGNMENT(&)
  XPOPS_TRUTH_ASSIGNMENT(^)
  XPOPS_TRUTH_ASSIGNMENT(+)
  XPOPS_TRUTH_ASSIGNMENT(-)
  XPOPS_TRUTH_ASSIGNMENT(*)
  XPOPS_TRUTH_ASSIGNMENT(/)
#undef XPOPS_TRUTH_ASSIGNMENT
};

// Atomic functions on elements of raw arrays.
template <class T>
struct Element<NarrowCell<T>> {
  using Value = float;
  using Bits = unsigned_t<T>;
  XPOPS_DEVICE static float value(Bits bits) { return static_cast<float>(__builtin_bit_cast(T, bits)); }
  XPOPS_DEVICE static Bits bits(float x) { return T(x).bits; }
};
template <>
struct Element<TruthCell> : Element<bool> {};

template <class T>
XPOPS_DEVICE float atomicAdd(NarrowCell<T>* at, float x) {
  return static_cast<float>(atomicAdd(&at->stored, T(x)));
}
template <class T, class Offset, class Length>
XPOPS_DEVICE void FastAtomicAdd(NarrowCell<T>* base, Offset offset, Length length, float value) {
  FastAtomicAdd(&base->stored, offset, length, T(value));
}

template <class T>
using cell_t = conditional_t<is_half_v<T> || is_float8_v<T>, NarrowCell<T>, conditional_t<is_same_v<T, bool>, TruthCell, T>>;

// An array that the user's operation indexes itself: by the linear index of an element in C order, or by its
// coordinates. `facts` holds the size, the lengths of the axes, and the strides in bytes.
template <class T, int kRank, bool kContiguous>
class RawArray {
 public:
  XPOPS_DEVICE RawArray(uint64 address, const uint64* facts) : address_(reinterpret_cast<char*>(address)), facts_(facts) {}

  XPOPS_DEVICE cell_t<T>& operator[](int64 i) { return at(offset(i)); }
  XPOPS_DEVICE const cell_t<T>& operator[](int64 i) const { return at(offset(i)); }
  template <class Integer>
  XPOPS_DEVICE cell_t<T>& operator[](const Integer* places) {
    return at(offset(places));
  }
  template <class Integer>
  XPOPS_DEVICE const cell_t<T>& operator[](const Integer* places) const {
    return at(offset(places));
  }
  XPOPS_DEVICE int64 size() const { return static_cast<int64>(facts_[0]); }
  XPOPS_DEVICE const int64* shape() const { return reinterpret_cast<const int64*>(facts_ + 1); }
  XPOPS_DEVICE const int64* strides() const { return shape() + kRank; }
  static constexpr int ndim = kRank;

 private:
  XPOPS_DEVICE cell_t<T>& at(int64 bytes) const { return *reinterpret_cast<cell_t<T>*>(address_ + bytes); }
  XPOPS_DEVICE int64 offset(int64 i) const {
    if constexpr (kContiguous) return i * static_cast<int64>(sizeof(T));
    int64 sum = 0;
#pragma unroll
    for (int axis = kRank - 1; axis >= 0; --axis) {
      const int64 length = shape()[axis];
      sum += (axis > 0 ? i % length : i) * strides()[axis];
      i /= length;
    }
    return sum;
  }
  template <class Integer>
  XPOPS_DEVICE int64 offset(const Integer* places) const {
    int64 sum = 0;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) sum += places[axis] * strides()[axis];
    return sum;
  }

  char* address_;
  const uint64* facts_;
};

template <class T, int kRank, bool kContiguous, int kSlot, int kFacts>
struct RawOperand {
  template <int kPack>
  struct Fragment : Settled {};
  template <int kPack, class Params>
  XPOPS_DEVICE static void load(const Params&, typename Params::Index, Fragment<kPack>&) {}
  template <int kPack, class Params>
  XPOPS_DEVICE static RawArray<T, kRank, kContiguous> value(const Params& params, const Fragment<kPack>&, int) {
    return {params.slots[kSlot], &params.slots[kFacts]};
  }
};

// The linear index of the element in C order, which is its offset in an array in C order.
template <Mode kMode, int kStrides>
struct IndexOperand {
  using Place = Operand<int8, int8, int8, kMode, 0, kStrides>;
  template <int kPack>
  struct Fragment : Settled {
    int64 at[kPack];
  };
  template <int kPack, class Params>
  XPOPS_DEVICE static void load(const Params& params, typename Params::Index linear, Fragment<kPack>& to) {
    constexpr bool kRun = kMode == Mode::kLinear || kMode == Mode::kShifted || kMode == Mode::kVector;
    const int64 first = Place::offset(params, linear);
#pragma unroll
    for (int i = 0; i < kPack; ++i) to.at[i] = kRun ? first + i : Place::offset(params, linear + i);
  }
  template <int kPack, class Params>
  XPOPS_DEVICE static int64 value(const Params&, const Fragment<kPack>& from, int i) {
    return from.at[i];
  }
};

// The type of `_ind` in an operation.
template <int kRank>
struct Indexer {
  int64 count;
  XPOPS_DEVICE int64 size() const { return count; }
  static constexpr int ndim = kRank;
};

// The same, for an operation that also reads the coordinates of the element.
template <int kRank>
class PlaceIndexer : public Indexer<kRank> {
 public:
  XPOPS_DEVICE PlaceIndexer(int64 count, int64 i, const int64* lengths) : Indexer<kRank>{count} {
#pragma unroll
    for (int axis = kRank - 1; axis >= 0; --axis) {
      places_[axis] = axis > 0 ? i % lengths[axis] : i;
      i /= lengths[axis];
    }
  }
  XPOPS_DEVICE const int64* get() const { return places_; }

 private:
  int64 places_[kRank > 0 ? kRank : 1];
};

// The lengths of the axes over which the operation loops.
template <int kFacts>
struct LengthsOperand {
  template <int kPack>
  struct Fragment : Settled {};
  template <int kPack, class Params>
  XPOPS_DEVICE static void load(const Params&, typename Params::Index, Fragment<kPack>&) {}
  template <int kPack, class Params>
  XPOPS_DEVICE static const int64* value(const Params& params, const Fragment<kPack>&, int) {
    return reinterpret_cast<const int64*>(&params.slots[kFacts]);
  }
};

// Adds an identity to a reducer that has none: a state without a value (`begun` is false).
template <class Reducer>
struct Nonempty {
  struct State {
    typename Reducer::State value;
    bool begun;
  };
  static constexpr bool kShifts = false;

  XPOPS_DEVICE static State identity() { return State{}; }
  template <class T>
  XPOPS_DEVICE static State lift(T x, int64 i) {
    return {Reducer::lift(x, i), true};
  }
  XPOPS_DEVICE static State combine(State a, State b) {
    if (a.begun && b.begun) return {Reducer::combine(a.value, b.value), true};
    return a.begun ? a : b;
  }
  template <class Ending>
  XPOPS_DEVICE static auto finish(State a, const Ending& ending) {
    return Reducer::finish(a.value, ending);
  }
};

// Arithmetic of complex numbers with real numbers of any type.
template <class S>
inline constexpr bool is_real_v = is_integer_v<S> || is_one_of_v<S, bool, float, double, long, unsigned long>;

#define XPOPS_COMPLEX_BESIDE_REAL(op)                                                      \
  template <class T, class S>                                                              \
  XPOPS_DEVICE enable_if_t<is_real_v<S>, complex<T>> operator op(complex<T> x, S y) {      \
    return x op complex<T>(static_cast<T>(y));                                             \
  }                                                                                        \
  template <class T, class S>                                                              \
  XPOPS_DEVICE enable_if_t<is_real_v<S>, complex<T>> operator op(S x, complex<T> y) {      \
    return complex<T>(static_cast<T>(x)) op y;                                             \
  }                                                                                        \
  template <class T, class S>                                                              \
  XPOPS_DEVICE complex<T>& operator op##=(complex<T>& x, S y) {                            \
    return x = x op y;                                                                     \
  }
XPOPS_COMPLEX_BESIDE_REAL(+)
XPOPS_COMPLEX_BESIDE_REAL(-)
XPOPS_COMPLEX_BESIDE_REAL(*)
XPOPS_COMPLEX_BESIDE_REAL(/)
#undef XPOPS_COMPLEX_BESIDE_REAL

}  // namespace xpops
