// Stands in for CUDA's header of this name where CUDA's headers are not installed: the same names for bfloat16.
#pragma once

#include <xpops/user/makers.cuh>

using __nv_bfloat16 = xpops::bfloat16;
using nv_bfloat16 = xpops::bfloat16;
using __nv_bfloat162 = xpops::half_pair<xpops::bfloat16>;
using nv_bfloat162 = xpops::half_pair<xpops::bfloat16>;

XPOPS_MAKERS(bfloat16, __nv_bfloat16)

XPOPS_DEVICE __nv_bfloat16 __short_as_bfloat16(short bits) { return xpops::half_of_bits<__nv_bfloat16>(bits); }
XPOPS_DEVICE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return xpops::half_of_bits<__nv_bfloat16>(bits); }
XPOPS_DEVICE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
XPOPS_DEVICE float2 __bfloat1622float2(__nv_bfloat162 a) { return xpops::floats_of(a); }
XPOPS_DEVICE __nv_bfloat162 __float2bfloat162_rn(float x) { return {__nv_bfloat16(x), __nv_bfloat16(x)}; }
XPOPS_DEVICE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
XPOPS_DEVICE __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {__nv_bfloat16(a.x), __nv_bfloat16(a.y)}; }
