// Conversions of 16-bit floats that only the code of users has.
#pragma once

#include "xpops/core/config.cuh"

namespace xpops {

// Between the 16-bit float Half and S. user/conversion.cuh has specialisations with these members:
//   Implicit   void if S converts to Half without a cast; bits(x) is the result
//   To         void if Half converts to S without a cast; value(x) is the result
//   Explicit   void if Half converts to S in a cast
template <class Half, class S, class = void> struct Conversion {};

}  // namespace xpops
