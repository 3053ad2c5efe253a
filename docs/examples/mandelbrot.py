"""The Mandelbrot set: how many of 24 steps a point stays near, the loop unrolled by the trace into one kernel."""

import xpops as xp

STEPS = 24


@xp.fuse
def mandelbrot(real, imag):
    x, y, steps = real * 0, imag * 0, xp.astype(real + imag, xp.int32) * 0
    for _ in range(STEPS):
        near = x * x + y * y < 4
        x, y = xp.where(near, x * x - y * y + real, x), xp.where(near, 2 * x * y + imag, y)
        steps = steps + xp.astype(near, xp.int32)
    return steps


if __name__ == "__main__":
    points = mandelbrot(xp.linspace(-2.2, 0.8, 72), xp.reshape(xp.linspace(-1.2, 1.2, 25), (25, 1)))
    for line in points.tolist():
        print("".join(" .:-=+*#%@"[each * 9 // STEPS] for each in line))
