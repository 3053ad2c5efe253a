// The kernel primitive API: operations of a block of threads on tiles in its registers (docs/kps.md).
#pragma once

#include <xpops/kps/config.cuh>
#include <xpops/kps/cumsum.cuh>
#include <xpops/kps/elementwise.cuh>
#include <xpops/kps/functors.cuh>
#include <xpops/kps/macros.cuh>
#include <xpops/kps/random.cuh>
#include <xpops/kps/read.cuh>
#include <xpops/kps/reduce.cuh>
#include <xpops/kps/sort.cuh>
#include <xpops/kps/tuple.cuh>
#include <xpops/kps/write.cuh>
