// Conversions of float16 and bfloat16, for the code of users. Every number becomes a half where one is wanted. A half
// becomes a float where one is wanted, other numbers in a cast. CUDA's half types become ours where they are wanted.
//
// Include it before every other header of xpops/, since those convert halves, too.
#pragma once

#include <type_traits>

#include <xpops/core/conversion.cuh>

namespace xpops {

template <class S> inline constexpr bool is_whole_v = std::is_integral<S>::value;
template <class S> inline constexpr bool is_number_v = is_whole_v<S> || std::is_same<S, float>::value || std::is_same<S, double>::value;

template <class Half, class S> struct NumberConversion {
  using Implicit = void;
  XPOPS_DEVICE static uint16 bits(S x);
  XPOPS_DEVICE static S value(Half x);
};
template <class Half>
struct Conversion<Half, float> : NumberConversion<Half, float> {
  using To = void;
};
template <class Half, class S>
struct Conversion<Half, S, typename std::enable_if<is_number_v<S> && !std::is_same<S, float>::value>::type>
    : NumberConversion<Half, S> {
  using Explicit = void;
};

struct float16;
struct bfloat16;

namespace detail {

// The value to which CUDA converts one of its half types. Its functions are not declared here: the compiler finds them
// by the type of their argument, if the source includes <cuda_fp16.h> or <cuda_bf16.h>.
template <class S> XPOPS_DEVICE auto cuda_value(const S& x, const float16*) -> decltype(__half2float(x));
template <class S> XPOPS_DEVICE auto cuda_value(const S& x, const bfloat16*) -> decltype(__bfloat162float(x));

}  // namespace detail

// CUDA's type of the same format has the same bits. In the other direction, ours become CUDA's by way of float.
template <class Half, class S>
struct Conversion<Half, S,
                  typename std::enable_if<std::is_class<S>::value && sizeof(S) == 2 &&
                                          !std::is_same<S, float16>::value && !std::is_same<S, bfloat16>::value &&
                                          std::is_same<float, decltype(detail::cuda_value(
                                                                  *static_cast<const S*>(nullptr),
                                                                  static_cast<const Half*>(nullptr)))>::value>::type> {
  using Implicit = void;
  XPOPS_DEVICE static uint16 bits(const S& x) { return __builtin_bit_cast(uint16, x); }
};

}  // namespace xpops

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>

namespace xpops {

// The dtype of the same size and kind.
template <class S>
using dtype_t = conditional_t<is_same_v<S, char>, int8,
                              conditional_t<is_same_v<S, long>, int64, conditional_t<is_same_v<S, unsigned long>, uint64, S>>>;

template <class Half, class S> XPOPS_DEVICE uint16 NumberConversion<Half, S>::bits(S x) {
  return cast<Half>(static_cast<dtype_t<S>>(x)).bits;
}
template <class Half, class S> XPOPS_DEVICE S NumberConversion<Half, S>::value(Half x) {
  return static_cast<S>(cast<dtype_t<S>>(x));
}

}  // namespace xpops
