"""Gravity between all pairs of bodies: a kernel by hand, with bodies in shared memory, tile by tile. It needs a GPU."""

import xpops as xp

BLOCK = 256

_module = xp.kernel.RawModule(
    r"""
#include <xpops/memory/pack.cuh>

using Body = xpops::Pack<float, 4>;  // x, y, z and mass, in one access of 16 bytes

extern "C" __global__ void __launch_bounds__(BLOCK) pull(const float* bodies, float* found, float softening, int n) {
  __shared__ Body tile[BLOCK];
  const int own = blockIdx.x * BLOCK + threadIdx.x;
  Body body;
  body.load(bodies + 4 * (own < n ? own : n - 1));
  float x = 0, y = 0, z = 0;
  for (int first = 0; first < n; first += BLOCK) {
    const int other = first + threadIdx.x;
    Body& mine = tile[threadIdx.x];
    mine.load(bodies + 4 * (other < n ? other : n - 1));
    if (other >= n) mine.elem[3] = 0;  // what is not there does not pull
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < BLOCK; ++k) {
      const float dx = tile[k].elem[0] - body.elem[0];
      const float dy = tile[k].elem[1] - body.elem[1];
      const float dz = tile[k].elem[2] - body.elem[2];
      const float near = rsqrtf(dx * dx + dy * dy + dz * dz + softening * softening);
      const float pull = tile[k].elem[3] * near * near * near;
      x += pull * dx, y += pull * dy, z += pull * dz;
    }
    __syncthreads();
  }
  if (own < n) found[3 * own] = x, found[3 * own + 1] = y, found[3 * own + 2] = z;
}
""",
    options=[f"-DBLOCK={BLOCK}"],
    name="n_body",
)
_pull = _module.get_function("pull")


def accelerations(bodies, softening=0.01):
    """Of n bodies, x, y, z and mass in each row, contiguous float32. `softening` keeps close ones finite."""
    count = bodies.shape[0]
    found = xp.empty((count, 3), dtype=xp.float32, device=bodies.device)
    _pull(-(-count // BLOCK), BLOCK, (bodies, found, softening, count))  # dtypes are checked, and who may be written
    return found


def step(bodies, velocities, time):
    """Positions and velocities a moment later, in place."""
    velocities += accelerations(bodies) * time
    bodies[:, :3] += velocities * time


if __name__ == "__main__":
    if xp.default_device().type == "cpu":
        print("kernels of one's own need a GPU")
    else:
        sun_and_planet = xp.asarray([[0, 0, 0, 1], [1, 0, 0, 1e-6]], dtype=xp.float32)
        velocities = xp.asarray([[0, 0, 0], [0, 1, 0]], dtype=xp.float32)
        for _ in range(1000):
            step(sun_and_planet, velocities, 2 * xp.pi / 1000)
        print(sun_and_planet)  # a year later the planet is back
