// Stands in for CUDA's header of this name where CUDA's headers are not installed: the same names for float16.
#pragma once

#include <xpops/user/makers.cuh>

using __half = xpops::float16;
using half = xpops::float16;
using __half2 = xpops::half_pair<xpops::float16>;
using half2 = xpops::half_pair<xpops::float16>;

XPOPS_MAKERS(half, __half)

XPOPS_DEVICE __half __short_as_half(short bits) { return xpops::half_of_bits<__half>(bits); }
XPOPS_DEVICE __half __ushort_as_half(unsigned short bits) { return xpops::half_of_bits<__half>(bits); }
XPOPS_DEVICE __half2 make_half2(__half x, __half y) { return {x, y}; }
XPOPS_DEVICE float2 __half22float2(__half2 a) { return xpops::floats_of(a); }
XPOPS_DEVICE __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
XPOPS_DEVICE __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
XPOPS_DEVICE __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
