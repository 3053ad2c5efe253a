"""The variance of everything up to each element: a scan whose state is a count, a mean and a sum. It needs a GPU."""

import xpops as xp

running_variance = xp.kernel.ScanKernel(
    "T x",
    "T y",
    "Spread{1, x, 0}",
    "joined(a, b)",
    "y = a.squares / a.count",
    "running_variance",
    scan_type="Spread",
    preamble="""
    struct Spread { T count, mean, squares; };  // the squares of what lies between elements and mean, added up

    XPOPS_DEVICE Spread joined(Spread a, Spread b) {
      const T count = a.count + b.count, apart = b.mean - a.mean, share = b.count / count;
      return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
    }
    """,
)

if __name__ == "__main__":
    if xp.default_device().type == "cpu":
        print("kernels of one's own need a GPU")
    else:
        print(running_variance(xp.asarray([1.0, 2.0, 3.0, 4.0])))
