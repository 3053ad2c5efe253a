// Elementwise with transposes, by boxes in shared memory: for operands whose neighbours are far apart in the result, and
// whose axes are too short for tiles.
//
// A block computes a box: some elements along each of a few axes, which are neighbours in the result or in an operand.
// All other axes are batch axes. Operands whose order differs from the result's are loaded in their own order.
#pragma once

#include <xpops/index/coordinates.cuh>
#include <xpops/kernels/transpose/fragments.cuh>

namespace xpops {

// The steps of a thread in the order of the result; those in other orders, which may repeat the last one; and elements of
// shared memory for a staged operand.
template <int kResultSteps_, int kSteps_, int kShared_>
struct Box {
  static constexpr int kResultSteps = kResultSteps_, kSteps = kSteps_, kShared = kShared_;
};

// One bit for each step.
template <int kSteps>
XPOPS_DEVICE constexpr uint32 all_steps() {
  static_assert(kSteps < 32, "bits of a 32-bit number");
  return (1u << kSteps) - 1;
}

// An order in which the threads walk a box. A step has elements along the axes that change the fastest. So an element's
// coordinates are the sum of the thread's in the first step and the step's in the first thread, and so is its place in
// shared memory. All axes are in this order, the one that changes the fastest first; `axes` has their numbers.
template <int kAxes, int kSteps>
struct BoxOrder {
  uint32 threads;
  uint32 axes[kAxes];
  FastDivMod<uint32> radices[kAxes];
  uint32 strides[kAxes];  // in shared memory
  uint32 places[kSteps];
  uint32 at[kSteps][kAxes];
};

// The kernel parameters, which the host writes (xpops/plan/transpose/boxes.py). The axes of a box are in the result's
// order. Order of strides: the batch axes, the box's axes. Orders: the result's comes first.
template <int kSlots, int kBatch, int kAxes, int kArrays, int kOrders, int kSteps, class Index_>
struct BoxedParams {
  using Index = Index_;
  using Stride = typename SignedOf<Index>::type;
  static constexpr int kBatchAxes = kBatch, kBoxAxes = kAxes;
  uint64 slots[kSlots];
  uint64 lengths[kAxes];
  int64 steps[kArrays][kSteps];  // from the first step's element, in bytes
  FastDivMod<Index> boxes[kAxes];
  FastDivMod<Index> divisors[kBatch > 1 ? kBatch - 1 : 1];
  Stride strides[kArrays][kBatch + kAxes];
  Stride ordered[kArrays][kAxes];  // the strides of the box's axes in the array's order
  uint32 sizes[kAxes];
  BoxOrder<kAxes, kSteps> orders[kOrders];
};

// The box of this block: its first element, and its size, which is smaller at the ends of the axes.
template <class Params>
struct BoxOrigin {
  using Index = typename Params::Index;
  static constexpr int kAxes = Params::kBoxAxes;
  Index first[kAxes], batch;
  uint32 size[kAxes];
  bool whole;

  XPOPS_DEVICE explicit BoxOrigin(const Params& params) : batch(blockIdx.x), whole(true) {
#pragma unroll
    for (int axis = kAxes - 1; axis >= 0; --axis) {
      const uint32 most = params.sizes[axis];
      first[axis] = params.boxes[axis].divmod(batch) * most;
      const uint64 left = params.lengths[axis] - first[axis];
      size[axis] = left < most ? static_cast<uint32>(left) : most;
      whole &= size[axis] == most;
    }
  }
  // The size along an axis whose number is a parameter of the kernel.
  XPOPS_DEVICE uint32 along(uint32 number) const {
    uint32 found = size[0];
#pragma unroll
    for (int axis = 1; axis < kAxes; ++axis) found = number == axis ? size[axis] : found;
    return found;
  }
};

// The elements of a thread in one of the orders.
template <class Params, int kOrder, int kSteps>
struct BoxWalk {
  static constexpr int kAxes = Params::kBoxAxes;
  uint32 at[kAxes];  // in the first step, in this order
  uint32 place;

  XPOPS_DEVICE explicit BoxWalk(const Params& params) : place(0) {
    const auto& order = params.orders[kOrder];
    uint32 rest = threadIdx.x;
#pragma unroll
    for (int i = 0; i < kAxes; ++i) {
      at[i] = order.radices[i].divmod(rest);
      place += at[i] * order.strides[i];
    }
  }

  // One bit for each step whose element is in the box.
  XPOPS_DEVICE uint32 steps(const Params& params, const BoxOrigin<Params>& origin) const {
    const auto& order = params.orders[kOrder];
    if (threadIdx.x >= order.threads) return 0;
    if (origin.whole) return all_steps<kSteps>();
    uint32 found = 0;
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) {
      bool inside = true;
#pragma unroll
      for (int i = 0; i < kAxes; ++i) inside &= at[i] + order.at[step][i] < origin.along(order.axes[i]);
      found |= static_cast<uint32>(inside) << step;
    }
    return found;
  }
};

// Calls visit(i) for each step i whose bit is set in `steps`.
template <int kSteps, class Visit>
XPOPS_DEVICE void visit_steps(uint32 steps, const Visit& visit) {
  if (steps == all_steps<kSteps>()) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) visit(i);
  } else if (steps) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (steps >> i & 1) visit(i);
    }
  }
}

template <class Element>
XPOPS_DEVICE Element* moved(Element* pointer, int64 bytes) {
  return reinterpret_cast<Element*>(reinterpret_cast<char*>(pointer) + bytes);
}

// The box of a block, and the walk of its threads in the order of the result.
template <class Params, class Box>
struct BoxBlock {
  BoxOrigin<Params> origin;
  BoxWalk<Params, 0, Box::kResultSteps> walk;
  uint32 steps;

  XPOPS_DEVICE explicit BoxBlock(const Params& params)
      : origin(params), walk(params), steps(walk.steps(params, origin)) {}
};

// One operand or the result of a boxed kernel. An operand in another order than the result is staged.
template <class T_, class Loop, class Compute, int kSlot, int kStrides, class Box, int kOrder>
struct BoxedOperand {
  using T = T_;
  using Element = typename Storage<T>::type;
  static constexpr bool kStaged = kOrder > 0;
  static constexpr int kSteps = kStaged ? Box::kSteps : Box::kResultSteps;
  struct Fragment {
    Element elem[kSteps];
    uint32 place, steps;  // of this thread's element in the first step; one bit for each step
  };

  // The address of this thread's element in the first step.
  template <class Params, class Walk>
  XPOPS_DEVICE static Element* first(const Params& params, const BoxOrigin<Params>& origin, const Walk& walk) {
    using Index = typename Params::Index;
    const auto* strides = params.strides[kStrides];
    Index within = 0;
    int64 offset = 0;
#pragma unroll
    for (int axis = 0; axis < Params::kBoxAxes; ++axis) {
      offset += static_cast<int64>(origin.first[axis]) * strides[Params::kBatchAxes + axis];
      within += walk.at[axis] * static_cast<Index>(params.ordered[kStrides][axis]);
    }
    if constexpr (Params::kBatchAxes > 0) {
      offset += Coordinates<Params::kBatchAxes, Index>(params.divisors, origin.batch).offset(strides);
    }
    offset += static_cast<typename Params::Stride>(within);
    return reinterpret_cast<Element*>(params.slots[kSlot]) + offset;
  }
  template <class Params>
  XPOPS_DEVICE static void load(const Params& params, const BoxBlock<Params, Box>& block, Fragment& to) {
    if constexpr (kStaged) {
      const BoxWalk<Params, kOrder, kSteps> walk(params);
      to.place = walk.place;
      to.steps = walk.steps(params, block.origin);
      load_steps(params, first(params, block.origin, walk), to.steps, to);
    } else {
      load_steps(params, first(params, block.origin, block.walk), block.steps, to);
    }
  }
  template <class Params>
  XPOPS_DEVICE static void stage(const Params& params, Fragment& from) {
    if constexpr (kStaged) {
      const auto& order = params.orders[kOrder];
      Element* to = box() + from.place;
      visit_steps<kSteps>(from.steps, [&](int i) { to[order.places[i]] = from.elem[i]; });
    }
  }
  // `place`: where the element is in shared memory.
  template <class Params>
  XPOPS_DEVICE static Compute value(const Params&, const Fragment& from, int step, int place) {
    if constexpr (kStaged) return to_compute<T, Loop, Compute>(box()[place]);
    else return to_compute<T, Loop, Compute>(from.elem[step]);
  }

 private:
  template <class Params>
  XPOPS_DEVICE static void load_steps(const Params& params, Element* from, uint32 steps, Fragment& to) {
    visit_steps<kSteps>(steps, [&](int i) { to.elem[i] = *moved(from, params.steps[kStrides][i]); });
  }
  XPOPS_DEVICE static Element* box() {
    __shared__ Element elements[kStaged ? Box::kShared : 1];
    return elements;
  }
};

// The body of every boxed kernel.
template <class Op, class Out, class Box, class... In, class Params>
XPOPS_DEVICE void elementwise_boxed(const Params& params) {
  const BoxBlock<Params, Box> block(params);
  TransposedFragments<In...> in;
  in.load(params, block);
  in.stage(params);
  __syncthreads();
  auto* to = Out::first(params, block.origin, block.walk);
  visit_steps<Box::kResultSteps>(block.steps, [&](int i) {
    const int place = block.walk.place + params.orders[0].places[i];
    *moved(to, params.steps[0][i]) = cast<typename Out::T>(in.template apply<Op>(params, i, place));
  });
}

}  // namespace xpops
