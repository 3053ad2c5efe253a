// A tuple, because device code has no standard library.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {
namespace kps {

template <class... Ts>
struct Tuple;
template <>
struct Tuple<> {};
template <class First, class... Rest>
struct Tuple<First, Rest...> {
  First first;
  Tuple<Rest...> rest;
};

// Element Index of a tuple. Init and ReadData of tuples call `get<Index>` unqualified, so that argument-dependent
// lookup also finds the functions for std::tuple and cuda::std::tuple.
template <int Index, class... Ts>
XPOPS_HOST_DEVICE auto& get(Tuple<Ts...>& tuple) {
  if constexpr (Index == 0) {
    return tuple.first;
  } else {
    return get<Index - 1>(tuple.rest);
  }
}
template <int Index, class... Ts>
XPOPS_HOST_DEVICE const auto& get(const Tuple<Ts...>& tuple) {
  if constexpr (Index == 0) {
    return tuple.first;
  } else {
    return get<Index - 1>(tuple.rest);
  }
}

}  // namespace kps
}  // namespace xpops
