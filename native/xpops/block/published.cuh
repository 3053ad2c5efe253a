// A state that one block or warp publishes and others wait for, without memory fences.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

// Waits between two polls of a published state. Zero nanoseconds only let other warps run first.
template <int kNanoseconds = 20>
XPOPS_DEVICE void pause() {
#if !XPOPS_ON_GPU || __CUDA_ARCH__ >= 700
  __nanosleep(kNanoseconds);
#endif
}

// A state in device or shared memory. One 64-bit access writes a 32-bit word and a tag. So a reader sees both or
// neither, and no fence is needed. The memory must hold zeros at first; each reuse needs a new tag.
template <class State>
class Published {
 public:
  XPOPS_DEVICE void clear() {
#pragma unroll
    for (int i = 0; i < kWords; ++i) *at(i) = 0;
  }

  XPOPS_DEVICE void publish(const State& state, uint32 tag = 1) {
    Words from;
    from.state = state;
#pragma unroll
    for (int i = 0; i < kWords; ++i) *at(i) = uint64(tag) << 32 | from.words[i];
  }

  // Returns whether the state is published. If so, `to` holds it.
  XPOPS_DEVICE bool read(State& to, uint32 tag = 1) const {
    Words words;
    bool ready = true;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const uint64 word = *at(i);
      ready = ready && word >> 32 == tag;
      words.words[i] = static_cast<uint32>(word);
    }
    to = words.state;
    return ready;
  }

  template <int kNanoseconds = 20>
  XPOPS_DEVICE State wait(uint32 tag = 1) const {
    State state;
    while (!read(state, tag)) pause<kNanoseconds>();
    return state;
  }

 private:
  static constexpr int kWords = (sizeof(State) + 3) / 4;
  union Words {
    uint32 words[kWords];
    State state;
    XPOPS_DEVICE Words() {
#pragma unroll
      for (int i = 0; i < kWords; ++i) words[i] = 0;
    }
  };

  XPOPS_DEVICE volatile uint64* at(int i) { return &words_[i]; }
  XPOPS_DEVICE const volatile uint64* at(int i) const { return &words_[i]; }

  uint64 words_[kWords];
};

}  // namespace xpops
