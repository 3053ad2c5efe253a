// The functions of real.cuh for complex numbers. Special values are the standard's (C99 Annex G almost throughout).
// Include it if a dtype is complex: functors find the overloads by argument-dependent lookup.
#pragma once

#include "xpops/math/complex/exponential.cuh"
#include "xpops/math/complex/hyperbolic.cuh"
#include "xpops/math/complex/inverse.cuh"
