"""Cases for the primitives that move data between memory and registers. NumPy computes the expected results."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.helpers.kps import BFLOAT16, Case, broadcast_config, c_type, some, zeros

WIDTHS = (1, 2, 3, 4, 8)
RUN_TYPES = ("bool", "uint8", "float16", BFLOAT16, "int32", "float32", "float64", "complex64", "complex128")


# Registers


def filling() -> Iterator[Case]:
    body = """
      float a[3], b[2]; kps::Tuple<int, float> c[2]; int d[4];
      kps::Init<float, 3>(a, 2.5f);
      kps::Init<float, 2>(b, -1.0f, 1);
      kps::Init<int, kps::Tuple<int, float>, 0, 2>(c, 7, 2);
      kps::Init<float, kps::Tuple<int, float>, 1, 2>(c, 0.5f, 2);
      kps::InitWithDataIndex<int, 4, 1>(d, 100);
      const float all[] = {a[0], a[1], a[2], b[0], b[1], float(kps::get<0>(c[1])), kps::get<1>(c[1]),
                           float(d[0]), float(d[3])};
      for (int i = 0; i < 9; ++i) out0[9 * threadIdx.x + i] = all[i];
    """
    wanted = [[2.5, 2.5, 2.5, -1, -1, 7, 0.5, 100 + 4 * t, 103 + 4 * t] for t in range(32)]
    yield Case("init", body, (), (zeros("float32", 32, 9),), (np.array(wanted, np.float32),))


# Runs

RUNS = """
template <int NX, class T>
XPOPS_DEVICE void runs(const T* in, T* read, T* written, int size) {
  const int tile = NX * blockDim.x;
  for (int offset = tile * blockIdx.x; offset < size; offset += tile * gridDim.x) {
    T a[NX], b[NX];
    const int num = size - offset, first = threadIdx.x * NX;
    kps::Init<T, NX>(a, in[0]);
    for (int i = 0; i < NX; ++i) b[i] = in[offset + (first + i < num ? first + i : 0)];
    if (num >= tile) {
      kps::ReadData<T, NX, 1>(a, in + offset, num);
      kps::WriteData<T, NX, 1>(written + offset, b, num);
    } else {
      kps::ReadData<T, NX, 1, true>(a, in + offset, num);
      kps::WriteData<T, NX, 1, true>(written + offset, b, num);
    }
    for (int i = 0; i < NX; ++i) read[offset + first + i] = a[i];
  }
}
"""


def runs() -> Iterator[Case]:
    """Each width in one kernel: three whole tiles of 32 threads, and one that ends within a run."""
    for dtype in RUN_TYPES:
        body, outputs, wanted = [], [], []
        sizes = [3 * 32 * width + 32 * width // 2 + 1 for width in WIDTHS]
        x = some(dtype, max(sizes), low=-9 if np.dtype(dtype).kind not in "bu" else 0)
        for i, (width, size) in enumerate(zip(WIDTHS, sizes, strict=True)):
            body.append(f"runs<{width}>(in0, out{2 * i}, out{2 * i + 1}, {size});")
            read, written = zeros(dtype, 4 * 32 * width), zeros(dtype, 4 * 32 * width)
            outputs += [read, written]
            wanted += [np.where(np.arange(read.size) < size, x[0:1], 0) for _ in range(2)]
            wanted[-2][:size] = wanted[-1][:size] = x[:size]
            wanted[-2][size:] = x[0]  # registers of elements beyond the end keep their values
            wanted[-1][size:] = 0  # and so does memory beyond the end
        name = f"runs of {np.dtype(dtype).name}"
        yield Case(name, "\n".join(body), (x,), tuple(outputs), tuple(wanted), grid=(2, 1, 1), preamble=RUNS)
    body = """
      int r[5]; short s[5];
      kps::ReadData(r, in0, 5); kps::ReadData<short>(s, in1, 4); s[4] = -1;
      kps::WriteData(out0, r, 5); kps::WriteData<short>(out1, s, 5);
    """
    x, y = some("int32", 5), some("int16", 5)
    yield Case("one thread's copies", body, (x, y), (zeros("int32", 5), zeros("int16", 5)), (x, np.append(y[:4], -1)),
               block=(1, 1, 1))  # fmt: skip
    body = """
      using Pair = kps::Tuple<double, float16>;
      Pair p[4]; const double none = -1; const float16 nothing(-2.0f);
      kps::Init<double, Pair, 0, 4>(p, none, 4);
      kps::Init<float16, Pair, 1, 4>(p, nothing, 4);
      if (blockIdx.x == 0) {
        kps::ReadData<double, 4, 1, Pair, 0>(p, in0, 128, 4);
        kps::ReadData<float16, 4, 1, Pair, 1>(p, in1, 128, 4);
      } else {
        kps::ReadData<double, 4, 1, Pair, 0, true>(p, in0 + 128, 3, 4);
        kps::ReadData<float16, 4, 1, Pair, 1, true>(p, in1 + 128, 70, 4);
      }
      for (int i = 0; i < 4; ++i) {
        const int at = 128 * blockIdx.x + 4 * threadIdx.x + i;
        out0[at] = kps::get<0>(p[i]); out1[at] = kps::get<1>(p[i]);
      }
    """
    x, y = some("float64", 256), some("float16", 256)
    wanted = (np.where(np.arange(256) < 131, x, -1), np.where(np.arange(256) < 198, y, np.float16(-2)))
    yield Case("runs into tuples", body, (x, y), (zeros("float64", 256), zeros("float16", 256)), wanted, grid=(2, 1, 1))


# Tiles

TILES = """
template <class Tx, class Ty, int NX, int NY, bool kBoundary>
XPOPS_DEVICE void tiles(const Tx* in, Ty* read, Ty* written, int size_nx, int size_ny, int stride_nx, int stride_ny) {
  Ty a[NX * NY]; Tx b[NX * NY];
  kps::Init<Ty, NX * NY>(a, cast<Ty>(-1));
  kps::ReadData<Tx, Ty, NX, NY, kBoundary>(a, in, size_nx, size_ny, stride_nx, stride_ny);
  for (int i = 0; i < NX * NY; ++i) {
    read[i * blockDim.x + threadIdx.x] = a[i];
    b[i] = in[i * blockDim.x + threadIdx.x];
  }
  kps::WriteData<Tx, Ty, NX, NY, kBoundary>(written, b, size_nx, size_ny, stride_nx, stride_ny);
}
"""


def tiles() -> Iterator[Case]:
    threads, pairs = 16, (("int8", "float32"), ("float64", BFLOAT16), ("float32", "int64"), ("complex64", "complex128"))
    for (columns, rows), (tx, ty) in zip([(1, 1), (1, 3), (3, 1), (2, 4)], pairs, strict=True):
        width = threads * columns + 5
        x = some(tx, width * rows + 64)
        body, outputs, wanted = [], [], []
        limits = [(width, width * rows), (threads * columns - 7, width * rows), (9, width * max(rows - 1, 1)), (3, 0)]
        for i, (size_nx, size_ny) in enumerate(limits):
            sizes = f"{size_nx}, {size_ny}, {threads}, {width}"
            flag = "false" if i == 0 else "true"
            body.append(
                f"tiles<{c_type(x)}, {c_type(zeros(ty, 1))}, {columns}, {rows}, {flag}>"
                f"(in0, out{2 * i}, out{2 * i + 1}, {sizes});"
            )
            read = np.full((rows, columns, threads), -1, np.float64).astype(ty)
            written = zeros(ty, width * rows)
            outputs += [zeros(ty, *read.shape), written.copy()]
            for ny, nx, t in np.ndindex(read.shape):
                column, row = t + nx * threads, ny * width
                if i == 0 or (column < size_nx and row < size_ny):
                    read[ny, nx, t] = x[column + row].astype(ty)
                    written[column + row] = x[(ny * columns + nx) * threads + t].astype(ty)
            wanted += [read, written]
        yield Case(f"tiles of {rows} x {columns}", "\n".join(body), (x,), tuple(outputs), tuple(wanted),
                   block=(threads, 1, 1), preamble=TILES)  # fmt: skip


# Broadcasting

BROADCASTS = """
template <class T, int NX, int NY>
XPOPS_DEVICE void broadcasts(const T* in, const kps::BroadcastConfig& config, T* run, T* tile, int total) {
  const unsigned threads = blockDim.x, first = NX * threads * blockIdx.x;
  T a[NX], b[NX * NY];
  kps::Init<T, NX>(a, cast<T>(-1));
  if (first + NX * threads <= total) kps::ReadDataBc<T, NX, 1>(a, in, first, config, total);
  else kps::ReadDataBc<T, NX, 1, true>(a, in, first, config, total, NX);
  for (int i = 0; i < NX; ++i) run[first + threadIdx.x * NX + i] = a[i];
  kps::Init<T, NX * NY>(b, cast<T>(-1));
  const unsigned start = NX * NY * threads * blockIdx.x, row = NX * threads;
  if (start + NY * row <= total) kps::ReadDataBc<T, NX, NY>(b, in, start, config, total, threads, row);
  else kps::ReadDataBc<T, NX, NY, true>(b, in, start, config, total, threads, row);
  for (int i = 0; i < NX * NY; ++i) tile[start + threadIdx.x + i * threads] = b[i];
}
"""


def broadcasts() -> Iterator[Case]:
    """With configurations from the host for any strides, and with the kernel's own for contiguous operands."""
    whole = some("float32", 4, 6, 10)
    operands = [
        ("a row", some("float32", 7), (3, 5, 7)),
        ("a column", some("float16", 5, 1), (3, 5, 7)),
        ("the middle", some("int64", 3, 1, 7), (3, 5, 7)),
        ("a scalar", some("complex64"), (3, 5, 7)),
        ("all of it", some("uint8", 3, 5, 7), (3, 5, 7)),
        ("one axis", some("float64", 100), (100,)),
        ("no axis", some("float64"), ()),
        ("a view", whole[::-1, 1::2, ::-3], (4, 3, 4)),
        ("a transposed view", whole.T[2:7], (5, 6, 4)),
        ("rows of packs", some("float32", 8), (3, 5, 8)),
        ("rows of packs off alignment", whole[0, ::2, 1:9], (5, 3, 8)),
        ("rows of half packs", some("float16", 5, 6), (3, 5, 6)),
        ("columns of packs", some("int8", 5, 1), (3, 5, 12)),
        ("rows of packs backwards", whole[1, :5, 8:0:-1], (5, 8)),
        ("nine axes", some("int32", 2, 1, 2, 1, 3, 1, 2, 1, 2), (2, 2, 2, 1, 3, 2, 2, 1, 2)),
    ]
    for name, x, shape in operands:
        total, (columns, rows) = math.prod(shape), (4, 2)
        base = x if x.base is None else whole
        start = (x.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // x.itemsize
        inputs = (base, broadcast_config(shape, x))
        grid = -(-total // (32 * columns)) + 1
        call = f"broadcasts<{c_type(x)}, {columns}, {rows}>"
        config = "*reinterpret_cast<const kps::BroadcastConfig*>(in1)"
        body = f"{call}(in0 + {start}, {config}, out0, out1, {total});"
        outputs = [zeros(x.dtype, grid * 32 * columns), zeros(x.dtype, grid * 32 * columns * rows)]
        if x.flags.c_contiguous and shape:
            dims, lengths = list(shape[::-1]), [*x.shape[::-1], *[1] * (len(shape) - x.ndim)]
            made = ", ".join("{" + ", ".join(map(str, each)) + "}" for each in (dims, lengths))
            body += f"""
              const int64 dims[2][{len(shape)}] = {{{made}}};
              const kps::BroadcastConfig config(dims[0], dims[1], {len(shape)});
              {call}(in0, config, out2, out3, {total});"""
            outputs *= 2
        flat = np.broadcast_to(x, shape).reshape(-1)
        wanted = [np.append(flat, np.full(each.size - total, -1, np.float64).astype(x.dtype)) for each in outputs]
        yield Case(f"broadcasting {name}", body, inputs, tuple(outputs), tuple(wanted), grid=(grid, 1, 1),
                   preamble=BROADCASTS)  # fmt: skip


# Reading for a reduction


def reads_for_reductions() -> Iterator[Case]:
    x = some("int16", 6, 5, 7)
    body = """
      float r[6];
      kps::Init<float, 6>(r, -1.0f);
      const auto& config = *reinterpret_cast<const kps::BroadcastConfig*>(in1);
      kps::ReadDataReduce<int16, float, 1, 6, 2, kps::BroadcastConfig, kps::SquareFunctor<int16, float>, true>(
          r, in0 + 7 * threadIdx.y, 2, config, 1, 40, 1, 8, kps::SquareFunctor<int16, float>(), true);
      for (int i = 0; i < 6; ++i) out0[48 * threadIdx.y + 8 * i + threadIdx.x] = r[i];
    """
    kept = np.moveaxis(x, 1, 0)  # the kept axes, then the reduced axes
    rows = np.square(kept.reshape(5, 42).astype(np.float32))[:, 2:]
    wanted = np.concatenate([rows, np.full((5, 8), -1, np.float32)], axis=1)
    config = broadcast_config((6, 7), kept[0])
    yield Case("reading along the last axis", body, (x, config), (zeros("float32", 5, 48),), (wanted,), block=(8, 5, 1))

    x = some("int32", 9, 10)
    body = """
      const auto row = [](int i) { return 10 * i; };
      int r[8], s[4];
      kps::Init<int, 8>(r, -1);
      kps::ReadDataReduce<int, int, 2, 4, 2, decltype(row), kps::IdentityFunctor<int>, true>(
          r, in0 + threadIdx.x, 0, row, 7, 9, 4, 3, kps::IdentityFunctor<int>(), false);
      kps::ReadDataReduce<int, int, 2, 2, 2, decltype(row), kps::InverseFunctor<int>>(
          s, in0 + threadIdx.x, 1, row, 0, 0, 5, 4, kps::InverseFunctor<int>(), false);
      const int thread = threadIdx.y * 4 + threadIdx.x;
      for (int i = 0; i < 8; ++i) out0[8 * thread + i] = r[i];
      for (int i = 0; i < 4; ++i) out1[4 * thread + i] = s[i];
    """
    wide, narrow = np.full((3, 4, 4, 2), -1, np.int32), np.zeros((3, 4, 2, 2), np.int32)
    for ty, tx, ny, nx in np.ndindex(wide.shape):
        if ty + 3 * ny < 9 and tx + 4 * nx < 7:
            wide[ty, tx, ny, nx] = x[ty + 3 * ny, tx + 4 * nx]
    for ty, tx, ny, nx in np.ndindex(narrow.shape):
        narrow[ty, tx, ny, nx] = -x[1 + ty + 4 * ny, tx + 5 * nx]
    yield Case("reading down columns", body, (x,), (zeros("int32", *wide.shape), zeros("int32", *narrow.shape)),
               (wide, narrow), block=(4, 3, 1))  # fmt: skip
