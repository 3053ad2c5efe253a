// Sort keys: unsigned integers in the order of the elements of any real dtype. -0.0 is less than +0.0. NaN is last, in
// ascending and in descending order.
#pragma once

#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>

namespace xpops {

// The bits of +infinity: all bits of the exponent are set.
template <class T> struct InfinityBits;
template <> struct InfinityBits<float16> { static constexpr uint16 value = 0x7c00; };
template <> struct InfinityBits<bfloat16> { static constexpr uint16 value = 0x7f80; };
template <> struct InfinityBits<float> { static constexpr uint32 value = 0x7f800000u; };
template <> struct InfinityBits<double> { static constexpr uint64 value = 0x7ff0000000000000ull; };

// encode maps the bits of an element to a key of the same width, and decode maps the key back.
// All NaNs have the same key, the largest in both directions. decode returns a NaN for it, perhaps another one.
template <class T, bool kDescending> struct Order {
  using Bits = unsigned_t<T>;
  static constexpr Bits kSign = static_cast<Bits>(Bits(1) << (8 * sizeof(T) - 1));
  static constexpr Bits kLast = static_cast<Bits>(~Bits(0));

  XPOPS_DEVICE static Bits encode(Bits bits) {
    Bits key;
    if constexpr (is_same_v<T, bool>) {
      key = bits != 0;
    } else if constexpr (is_floating_v<T>) {
      if (static_cast<Bits>(bits & ~kSign) > InfinityBits<T>::value) return kLast;
      key = static_cast<Bits>(bits & kSign ? ~bits : bits | kSign);
    } else {
      key = is_signed_v<T> ? static_cast<Bits>(bits ^ kSign) : bits;
    }
    return static_cast<Bits>(kDescending ? ~key : key);
  }

  XPOPS_DEVICE static Bits decode(Bits key) {
    if (kDescending) key = static_cast<Bits>(~key);
    if constexpr (is_floating_v<T>) {
      return static_cast<Bits>(key & kSign ? key ^ kSign : ~key);
    } else {
      return is_signed_v<T> ? static_cast<Bits>(key ^ kSign) : key;
    }
  }
};

}  // namespace xpops
