// What the code of every user has without an include: integers of fixed width, type traits, min, max, limits and the
// mathematical functions of std; 16-bit floats with operators; atomic functions for every dtype.
#pragma once

#include <xpops/user/conversion.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xpops/user/atomic.cuh>
#include <xpops/user/intrinsics.cuh>
