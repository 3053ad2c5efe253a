// What native/cuda/cuda_fp16.h and cuda_bf16.h share: functions that make 16-bit floats of other numbers.
#pragma once

#include <xpops/user/atomic.cuh>
#include <xpops/user/intrinsics.cuh>

namespace xpops {

template <class T> XPOPS_DEVICE T half_of_bits(unsigned short bits) {
  T x;
  x.bits = bits;
  return x;
}

// The half next to `near`, the nearest half to x, if `near` is on the wrong side of x. `up` and `down`: whether the
// result must not be below x, or not above it.
template <class T> XPOPS_DEVICE T round_to(float x, bool up, bool down) {
  const T near = T(x);
  const float found = near;
  if (up ? !(found < x) : down ? !(found > x) : true) return near;
  if (found == 0) return half_of_bits<T>(up ? 1 : 0x8001);
  return half_of_bits<T>(static_cast<uint16>(near.bits + ((found > 0) == up ? 1 : -1)));
}
template <class T> XPOPS_DEVICE T round_to_zero(float x) { return round_to<T>(x, x < 0, x > 0); }

template <class T> XPOPS_DEVICE float2 floats_of(half_pair<T> a) {
  float2 both;
  both.x = a.x;
  both.y = a.y;
  return both;
}

// Atomic addition to each of the two, one after the other.
template <class T> XPOPS_DEVICE half_pair<T> atomicAdd(half_pair<T>* at, half_pair<T> a) {
  return {::atomicAdd(&at->x, a.x), ::atomicAdd(&at->y, a.y)};
}

#define XPOPS_SHUFFLE(name, Lane)                                                                             \
  template <class T> XPOPS_DEVICE half_pair<T> name(unsigned mask, half_pair<T> a, Lane lane, int width = 32) { \
    return packed2<T>(::name(mask, packed2<T>(a).bits, lane, width));                                         \
  }
XPOPS_SHUFFLE(__shfl_sync, int)
XPOPS_SHUFFLE(__shfl_up_sync, unsigned)
XPOPS_SHUFFLE(__shfl_down_sync, unsigned)
XPOPS_SHUFFLE(__shfl_xor_sync, int)
#undef XPOPS_SHUFFLE

}  // namespace xpops

#define XPOPS_FROM_NUMBER(name, T, Number) \
  XPOPS_DEVICE T name(Number x) { return xpops::cast<T>(static_cast<xpops::dtype_t<Number>>(x)); }

#define XPOPS_MAKERS(half, T)                                                                  \
  XPOPS_FROM_NUMBER(__float2##half, T, float)                                                  \
  XPOPS_FROM_NUMBER(__float2##half##_rn, T, float)                                             \
  XPOPS_FROM_NUMBER(__double2##half, T, double)                                                \
  XPOPS_FROM_NUMBER(__int2##half##_rn, T, int)                                                 \
  XPOPS_FROM_NUMBER(__uint2##half##_rn, T, unsigned)                                           \
  XPOPS_FROM_NUMBER(__short2##half##_rn, T, short)                                             \
  XPOPS_FROM_NUMBER(__ushort2##half##_rn, T, unsigned short)                                   \
  XPOPS_FROM_NUMBER(__ll2##half##_rn, T, long long)                                            \
  XPOPS_FROM_NUMBER(__ull2##half##_rn, T, unsigned long long)                                  \
  XPOPS_DEVICE T __float2##half##_rz(float x) { return xpops::round_to_zero<T>(x); }           \
  XPOPS_DEVICE T __float2##half##_rd(float x) { return xpops::round_to<T>(x, false, true); }   \
  XPOPS_DEVICE T __float2##half##_ru(float x) { return xpops::round_to<T>(x, true, false); }
