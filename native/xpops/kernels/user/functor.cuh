// Calls a user's functor: on one element, or on two neighbours at once.
#pragma once

#include <type_traits>
#include <utility>

#include <xpops/math/packed.cuh>
#include <xpops/user/half.cuh>

namespace xpops {

// A half type of CUDA as ours; any other number as it is.
template <class S>
XPOPS_DEVICE auto own_number(S x) {
  if constexpr (is_number_v<S>) return x;
  else if constexpr (mixes_v<float16, S>) return float16(x);
  else if constexpr (mixes_v<bfloat16, S>) return bfloat16(x);
  else return x;
}

// A factory is called without arguments, and returns the functor.
template <class F, class... In>
inline constexpr bool is_factory_v = !std::is_invocable<F&, In...>::value && std::is_invocable<F&>::value;

template <class F, class... In>
XPOPS_DEVICE auto call(F& f, In... x) {
  if constexpr (is_factory_v<F, In...>) return own_number(f()(x...));
  else return own_number(f(x...));
}

namespace detail {

template <class Void, class F, class... Pointers>
inline constexpr bool has_Apply2_v = false;
template <class F, class... Pointers>
inline constexpr bool has_Apply2_v<decltype(std::declval<F&>().Apply2(std::declval<Pointers>()...)), F, Pointers...> = true;

template <class T>
using packed_t = packed2<decltype(own_number(std::declval<T>()))>;
template <class Void, class F, class... Packed>
inline constexpr bool has_apply2_v = false;
template <class F, class... Packed>
inline constexpr bool has_apply2_v<decltype(void(std::declval<F&>().apply2(std::declval<Packed>()...))), F, Packed...> = true;
// All types must be the same half type.
template <class T, class... In>
inline constexpr bool is_packable_v = (std::is_same<T, In>::value && ...) && is_half_v<decltype(own_number(std::declval<T>()))>;

template <class T>
XPOPS_DEVICE packed_t<T> packed_at(const T* at) {
  return packed_t<T>(*reinterpret_cast<const uint32*>(at));
}

}  // namespace detail

// Computes two results of two elements of each operand, by `Apply2` on pointers or by `apply2` on packed halves. Returns
// false, and computes nothing, if the functor has neither for these types.
template <class F, class R, class... In>
XPOPS_DEVICE bool call_on_pairs(F& f, R* to, const In*... x) {
  if constexpr (is_factory_v<F, In...>) {
    auto made = f();
    return call_on_pairs(made, to, x...);
  } else if constexpr (detail::has_Apply2_v<void, F, R*, const In*...>) {
    f.Apply2(to, x...);
    return true;
  } else if constexpr (detail::is_packable_v<R, In...>) {
    if constexpr (detail::has_apply2_v<void, F, detail::packed_t<In>...>) {
      *reinterpret_cast<uint32*>(to) = f.apply2(detail::packed_at(x)...).bits;
      return true;
    }
  }
  return false;
}

}  // namespace xpops
