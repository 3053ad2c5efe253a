"""Plans against the addresses of elements in NumPy. No device."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.layouts import CUTS, cut_of
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import Layout, alignment, contiguous_strides, extent, layout_of
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.elementwise import LINEAR, STRIDED, Mode, plan_elementwise
from xpops.plan.result import result_layout
from xpops.plan.signature import Signature
from xpops.plan.strides.broadcast import broadcast_shapes, broadcast_strides
from xpops.plan.strides.coalesce import coalesce
from xpops.plan.strides.divmod import magic
from xpops.plan.strides.overlap import elements_apart, overlaps_itself, safe_distance
from xpops.plan.transpose import plan_transpose
from xpops.plan.transpose.boxes import plan_boxes

GPU = Device("cuda")
POLICY = tuning_of(90).elementwise
EDGES = [1, 2, 3, 5, 7, 15, 16, 17, 127, 128, 129, 4095, 4096, 4097, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1]

shapes = st.lists(st.integers(1, 5), max_size=4).map(tuple)


def walk(shape, strides):
    """The offsets of all elements in C order."""
    offsets = np.zeros(shape, np.int64)
    for axis, (length, stride) in enumerate(zip(shape, strides, strict=True)):
        index = np.arange(length).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        offsets = offsets + index * stride
    return offsets


@st.composite
def views(draw, shape, dtype=dt.float32):
    """A layout that broadcasts to `shape`: permuted, stepped, flipped or repeated."""
    lengths = tuple(draw(st.sampled_from([1, length])) for length in shape[draw(st.integers(0, len(shape))) :])
    base = [length * draw(st.integers(1, 2)) for length in lengths]
    order = draw(st.permutations(range(len(lengths))))
    array = (
        np.empty([base[axis] for axis in order], dtype).transpose(np.argsort(order)) if lengths else np.empty((), dtype)
    )
    slices = []
    for length, full in zip(lengths, base, strict=True):
        step = draw(st.sampled_from([1, -1] if full == length else [1, 2, -2]))
        slices.append(slice(None, None, step) if abs(step) == 2 or full == length else slice(0, length))
    view = array[tuple(slices)]
    assert view.shape == lengths
    strides = tuple(stride // dtype.itemsize for stride in view.strides)
    return layout_of(dtype, view.shape, strides, GPU, draw(st.sampled_from([4, 8, 16])))


@given(
    st.one_of(st.sampled_from(EDGES), st.integers(1, 2**32 - 1)),
    st.one_of(st.sampled_from([0, *EDGES]), st.integers(0, 2**32 - 1)),
)
def test_magic_divides_every_32_bit_number(divisor, n):
    multiplier, shift = magic(divisor, 32)
    assert 0 <= multiplier < 2**32
    assert ((n * multiplier >> 32) + n) >> shift == n // divisor


@given(st.integers(1, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_magic_divides_every_64_bit_number(divisor, n):
    multiplier, shift = magic(divisor, 64)
    high = n * multiplier >> 64
    quotient = n if shift == 0 else (high + (n - high >> 1)) >> (shift - 1)  # as the device computes it
    assert multiplier < 2**64
    assert quotient == n // divisor


def test_magic_refuses_zero():
    with pytest.raises(ValueError, match="divisor is 0"):
        magic(0, 32)


@given(st.lists(shapes, min_size=1, max_size=4))
def test_broadcast_shapes_is_numpys(many):
    try:
        expected = np.broadcast_shapes(*many)
    except ValueError:
        with pytest.raises(ValueError, match="cannot be broadcast"):
            broadcast_shapes(*many)
    else:
        assert broadcast_shapes(*many) == expected


@given(shapes.flatmap(lambda shape: st.tuples(st.just(shape), views(shape), views(shape))))
def test_coalescing_keeps_the_walk(case):
    shape, a, b = case
    strides = [broadcast_strides(x.shape, x.strides, shape) for x in (a, b)]
    small, kept = coalesce(shape, strides)
    before = set(zip(*(walk(shape, line).ravel().tolist() for line in strides), strict=True))
    after = set(zip(*(walk(small, line).ravel().tolist() for line in kept), strict=True))
    assert before == after
    assert len(small) <= len(shape)


def test_coalescing_merges_all_it_can():
    assert coalesce((2, 3, 4), [(12, 4, 1), (12, 4, 1)]) == ((24,), [(1,), (1,)])
    assert coalesce((2, 3, 4), [(12, 4, 1), (1, 2, 6)])[0] == (2, 3, 4)
    assert coalesce((1, 1), [(0, 0)]) == ((), [()])


def unpack(plan, arrays):
    """Unpack the parameters of a kernel: size, divisors, strides of the strided arrays."""
    word = 4 if plan.index_bits == 32 else 8
    (size,) = struct.unpack_from("<Q", plan.tail)
    count = max(plan.rank - 1, 1)
    divisors = [struct.unpack_from("<III" if word == 4 else "<QQQ", plan.tail, 8 + 3 * word * i) for i in range(count)]
    start = 8 + 3 * word * count
    lines = []
    for i in range(arrays):
        lines.append(
            struct.unpack_from(f"<{plan.rank}{'i' if word == 4 else 'q'}", plan.tail, start + i * word * plan.rank)
        )
    return size, divisors, lines


def offset(linear, divisors, strides, rank):
    """The offset that `Coordinates` computes."""
    total = 0
    for axis in range(rank - 1, 0, -1):
        divisor, multiplier, shift = divisors[axis - 1]
        quotient = ((linear * multiplier >> 32) + linear) >> shift
        total += (linear - quotient * divisor) * strides[axis]
        linear = quotient
    return total + linear * strides[0]


def check_plan(out, a, b):
    """Check that a kernel reads the same elements as NumPy for each element of `out`, and aligned packs."""
    shape = out.shape
    plan = plan_elementwise(out, (a, b), POLICY)
    layouts = (out, a, b)
    for layout, mode in zip(layouts, plan.modes, strict=True):
        width = min(16, plan.pack * layout.dtype.itemsize)
        assert mode not in (Mode.LINEAR, Mode.VECTOR) or layout.align >= width
    strided = [mode in STRIDED for mode in plan.modes]
    size, divisors, lines = unpack(plan, sum(strided))
    assert size == out.size
    assert plan.block * plan.pack * plan.unroll * plan.blocks >= size
    lines = iter(lines)
    columns = []
    for layout, mode in zip(layouts, plan.modes, strict=True):
        strides = next(lines) if mode in STRIDED else None
        row = []
        for linear in range(size):
            start = linear // plan.pack * plan.pack
            if mode in LINEAR:
                row.append(linear)
            elif mode is Mode.UNIFORM:
                row.append(0)
            elif mode is Mode.SPLAT:
                row.append(offset(start, divisors, strides, plan.rank))
            elif mode is Mode.VECTOR:
                row.append(offset(start, divisors, strides, plan.rank) + linear - start)
                assert row[-1] - (linear - start) == offset(start, divisors, strides, plan.rank)
                assert (row[-1] - (linear - start)) * 4 % (4 * plan.pack) == 0
            else:
                row.append(offset(linear, divisors, strides, plan.rank))
        if mode in (Mode.LINEAR, Mode.VECTOR):
            assert layout.align >= 4 * plan.pack or plan.pack == 1
        columns.append(row)
    expected = [walk(shape, broadcast_strides(x.shape, x.strides, shape)).ravel().tolist() for x in layouts]
    assert set(zip(*columns, strict=True)) == set(zip(*expected, strict=True))
    assert len(set(columns[0])) == size


@given(shapes.flatmap(lambda shape: st.tuples(st.just(shape), views(shape), views(shape), st.booleans())))
def test_a_plan_reads_every_element_of_every_operand(case):
    shape, a, b, dense = case
    signature = Signature((dt.float32,) * 2, dt.float32, shape)
    out = (
        result_layout(signature, (a, b), GPU)
        if dense
        else layout_of(dt.float32, shape, tuple(np.cumprod((2, *shape[:0:-1]))[::-1].tolist()) if shape else (), GPU)
    )
    check_plan(out, a, b)


@pytest.mark.parametrize("name", CUTS)
def test_a_plan_of_fixed_views(name):
    host = cut_of(name, np.float32)
    strides = tuple(stride // 4 for stride in host.strides)
    a = layout_of(dt.float32, host.shape, strides, GPU, alignment(host.ctypes.data))
    row = layout_of(dt.float32, host.shape[-1:], None, GPU)
    check_plan(layout_of(dt.float32, host.shape, None, GPU), a, row)
    check_plan(a, layout_of(dt.float32, host.shape, None, GPU), row)


@pytest.mark.parametrize(
    ("operands", "modes"),
    [
        ([((64, 64), None), ((64, 64), None)], "kLinear kLinear kLinear"),
        ([((64, 64), None), ((64,), None)], "kLinear kLinear kVector"),
        ([((64, 64), None), ((64, 1), None)], "kLinear kLinear kSplat"),
        ([((64, 3), None), ((3,), None)], "kLinear kLinear kGather"),
        ([((64, 64), None), ((), None)], "kLinear kLinear kUniform"),
        ([((64, 64), (1, 64)), ((64, 64), (1, 64))], "kLinear kLinear kLinear"),
    ],
)
def test_classes_of_layouts(operands, modes):
    layouts = tuple(layout_of(dt.float32, shape, strides, GPU) for shape, strides in operands)
    out = result_layout(Signature((dt.float32,) * 2, dt.float32, (64, operands[0][0][-1])), layouts, GPU)
    plan = plan_elementwise(out, layouts, POLICY)
    assert " ".join(plan.modes) == modes
    assert plan.pack == 4  # 16 bytes of float32, independent of the other operands


@pytest.mark.parametrize(
    ("dtype", "shape", "strides", "align", "mode"),
    [
        (dt.float32, (1000,), None, 4, "kShifted"),
        (dt.int8, (1000,), None, 1, "kShifted"),
        (dt.float32, (8, 1021), (1024, 1), 4, "kRow"),
        (dt.float32, (8, 1024), (1030, 1), 16, "kRow"),
        (dt.float32, (8, 1024), (1032, 1), 16, "kVector"),
        (dt.int8, (8, 1000), (1003, -1), 1, "kReversed"),
        (dt.float16, (1000,), (-1,), 2, "kReversed"),
        (dt.float32, (8, 1021), (0, 1), 16, "kRow"),
        (dt.float32, (8, 1021), (1, 0), 4, "kRepeated"),
        (dt.float32, (8, 1021), (2100, 2), 16, "kGather"),
    ],
)
def test_operands_have_an_access_of_their_own(dtype, shape, strides, align, mode):
    out, x = layout_of(dtype, shape, None, GPU), layout_of(dtype, shape, strides, GPU, align)
    plan = plan_elementwise(out, (out, x), POLICY)
    assert [str(mode) for mode in plan.modes] == ["kLinear", "kLinear", mode]
    assert plan.pack == (16 if mode != "kGather" else 4) // dtype.itemsize
    assert plan.pack * plan.unroll >= 4


def test_the_result_narrows_the_pack():
    wide, narrow = (layout_of(dt.float32, (100,), None, GPU, align) for align in (16, 4))
    assert plan_elementwise(wide, (wide, narrow), POLICY).pack == 4
    assert plan_elementwise(narrow, (wide, wide), POLICY).pack == 1


@pytest.mark.parametrize(
    ("source", "target", "pack"), [("int8", "float32", 4), ("float64", "int8", 4), ("float32", "float16", 8)]
)
def test_packs_of_mixed_widths(source, target, pack):
    x, out = (
        layout_of(getattr(dt, name) if hasattr(dt, name) else np.dtype(name), (1000,), None, GPU)
        for name in (source, target)
    )
    assert plan_elementwise(out, (x,), POLICY).pack == pack


@pytest.mark.parametrize(
    ("result", "operands", "pack"),
    [
        (dt.uint8, (dt.uint8,) * 2, 16),
        (dt.uint8, (dt.uint8,) * 3, 8),  # registers do not hold three packs of 16
        (dt.bool, (dt.bfloat16,) * 2, 8),
        (dt.bool, (dt.float32,) * 2, 4),
        (dt.float16, (dt.float16,) * 12, 8),  # one access of an operand, however many there are
        (dt.float32, (dt.float32,) * 12, 4),
    ],
    ids=str,
)
def test_packs_of_several_operands(result, operands, pack):
    out, *layouts = (layout_of(each, (4096,), None, GPU, 16) for each in (result, *operands))
    assert plan_elementwise(out, tuple(layouts), POLICY).pack == pack


@pytest.mark.parametrize(
    ("result", "operand", "strides", "times"),
    [
        (dt.float32, dt.float32, (4000, 1), 1),
        (dt.float32, dt.int8, (4000, 1), 2),
        (dt.float32, dt.bfloat16, (4000, 1), 2),
        (dt.float64, dt.int8, (4000, 1), 1),  # a thread has two packs
        (dt.float16, dt.float16, (1, 1), 2),  # 4512 elements of memory
        (dt.float16, dt.float16, (0, 1), 1),  # two packs
    ],
    ids=str,
)
def test_blocks_that_move_few_bytes_have_more_threads(result, operand, strides, times):
    shape = (513, 4000)
    out, x = layout_of(result, shape, None, GPU), layout_of(operand, shape, strides, GPU)
    plan = plan_elementwise(out, (x,), POLICY)
    assert plan.block == times * POLICY.block
    assert plan.blocks == -(-out.size // (plan.block * plan.pack * plan.unroll))


@pytest.mark.parametrize(
    ("shape", "strides", "bits"),
    [
        ((2**20,), None, 32),
        ((2**30,), None, 32),
        ((2**31 - 2**22,), None, 32),
        ((2**31,), None, 64),
        ((2**32 - 1,), None, 64),
        ((2**32 + 5,), None, 64),
        ((2, 8), (2**30, 1), 32),
        ((2, 8), (2**31, 1), 64),
        ((2, 8), (-(2**31), 1), 64),
        ((3, 8), (2**30, 1), 64),
        ((3, 3), (2**30, -(2**30)), 64),
    ],
)
def test_large_arrays_are_indexed_with_64_bits(shape, strides, bits):
    """64 bits are needed if an offset may reach 2^31, even in arrays of few elements and with negative strides."""
    x, out = layout_of(dt.uint8, shape, strides, GPU), layout_of(dt.uint8, shape, None, GPU)
    plan = plan_elementwise(out, (x,), POLICY)
    assert plan.index_bits == bits
    # Indices up to the end of the last tile must fit in the index's type.
    assert plan.blocks * plan.block * plan.pack * plan.unroll < 2 ** (bits - 1)


def test_a_transposed_operand_is_tiled():
    a, b = layout_of(dt.float32, (64, 64), (1, 64), GPU), layout_of(dt.float32, (64, 64), None, GPU)
    plan = plan_transpose(b, (a, b), POLICY)
    assert plan is not None
    assert plan.modes == (Mode.GATHER, Mode.TILE_ROWS, Mode.GATHER)
    assert plan_transpose(b, (b, b), POLICY) is None
    slim, turned = (layout_of(dt.float32, (64, 4), strides, GPU) for strides in (None, (1, 64)))
    assert plan_transpose(slim, (turned,), POLICY) is None


def test_repeated_elements_are_not_transposed():
    """They are few elements of memory, however many the array has."""
    for strides in ((1, 0), (0, 1)):
        out = layout_of(dt.float32, (102442, 301), None, GPU)
        x = layout_of(dt.float32, out.shape, strides, GPU)
        assert plan_transpose(out, (x,), POLICY) is None
        assert plan_elementwise(out, (x,), POLICY).unroll > plan_elementwise(out, (out,), POLICY).unroll


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((526664, 17), (1, 0)),
        ((976, 4, 256, 19), (1, 0, 3, 2)),
        ((15338, 2, 871), (0, 2, 1)),
        ((48, 4, 4307, 23), (1, 3, 0, 2)),
        ((34, 8200, 65), (1, 2, 0)),
        ((2419, 4, 3, 41, 7), (1, 0, 3, 4, 2)),
    ],
)
def test_boxes_of_lengths_without_small_divisors_have_a_few_steps(shape, order):
    lengths = [shape[axis] for axis in order]
    strides = tuple(contiguous_strides(tuple(lengths))[order.index(axis)] for axis in range(len(shape)))
    out = layout_of(dt.float32, shape, None, GPU)
    policy = POLICY._replace(box_distance=8)
    plan = plan_boxes(out, (layout_of(dt.float32, shape, strides, GPU),), policy)
    assert plan is not None
    assert out.size / plan.blocks >= 4 * 256 * 7 / 8
    assert plan.unroll <= 28


@pytest.mark.parametrize(
    ("dtype", "shape", "in_boxes"),
    [
        (dt.int8, (7001, 7001), True),  # byte by byte
        (dt.bfloat16, (5001, 5001), True),
        (dt.bfloat16, (5001, 5000), False),
        (dt.float32, (5001, 5001), False),
        (dt.bfloat16, (1800061, 21), True),  # 11 of 32 columns of a tile would be idle
        (dt.int16, (228704, 78), True),
    ],
)
def test_what_tiles_leave_to_boxes(dtype, shape, in_boxes):
    out = layout_of(dtype, shape, None, GPU)
    plan = plan_transpose(out, (layout_of(dtype, shape, (1, shape[0]), GPU), out), POLICY)
    assert plan is not None
    assert (plan.boxes is not None) == in_boxes


def test_short_rows_far_apart_are_tiled():
    for dtype, length in ((dt.int16, 6), (dt.float32, 4), (dt.int8, 2), (dt.float64, 3)):
        out = layout_of(dtype, (length, 2**20), None, GPU)
        plan = plan_transpose(out, (layout_of(dtype, out.shape, (1, length), GPU), out), POLICY)
        assert plan is not None
        assert plan.modes == (Mode.GATHER, Mode.TILE_ROWS, Mode.GATHER)
    near = layout_of(dt.int16, (6, 2**19), None, GPU)
    boxes = plan_transpose(near, (layout_of(dt.int16, near.shape, (1, 6), GPU),), POLICY)
    assert boxes is not None
    assert boxes.boxes is not None
    row = layout_of(dt.int16, (6, 1), (1, 1), GPU)
    assert plan_transpose(layout_of(dt.int16, (6, 2**20), None, GPU), (row,), POLICY) is None


@pytest.mark.parametrize(
    ("dtype", "shape", "strides"),
    [
        (dt.int8, (2812, 5, 512, 4), (1, 11248, 56240, 2812)),  # the last axis is short
        (dt.bfloat16, (4, 12, 254320, 3), (3, 12, 144, 1)),  # in both orders
        (dt.float64, (48, 2, 2, 98285), (2, 96, 1, 192)),  # so is the one with stride 1
        (dt.float32, (3,) * 15, tuple(3**axis for axis in range(15))),
        (dt.float16, (4, 100, 4, 61, 202), (100, 1, 24400, 400, 97600)),  # 30% of tiles would be empty
    ],
)
def test_short_axes_far_apart_are_in_boxes(dtype, shape, strides):
    out = layout_of(dtype, shape, None, GPU)
    x = layout_of(dtype, shape, strides, GPU)
    plan = plan_transpose(out, (x, out), POLICY)
    assert plan is not None
    assert plan.boxes is not None
    assert plan.boxes.orders == (0, 1, 0)
    assert plan_transpose(out, (x, out, float), POLICY).modes[-1] is Mode.SCALAR


def test_cached_operands_are_gathered():
    """Elements of one sector are near each other in the result, or the operand is small."""
    for shape, strides in (((2000, 5, 4), (20, 1, 5)), ((900, 40, 7), (280, 1, 40)), ((900, 40, 7), (0, 1, 40))):
        out = layout_of(dt.float16, shape, None, GPU)
        assert plan_transpose(out, (layout_of(dt.float16, shape, strides, GPU),), POLICY) is None
    out, column = (
        layout_of(dt.int8, (4, 12, 999, 6), None, GPU),
        layout_of(dt.int8, (4, 12, 999, 1), (1, 4, 48, 1), GPU),
    )
    assert plan_transpose(out, (column,), POLICY) is None


def test_boxes_fit_shared_memory_and_parameters():
    """Else operands are gathered."""
    for dtype in (dt.int8, dt.complex128):
        for count in (1, 3, 9, 40):
            out = layout_of(dtype, (4, 12, 9990, 3), None, GPU)
            plan = plan_boxes(out, (layout_of(dtype, out.shape, (1, 4, 48, 479520), GPU),) * count, POLICY)
            if plan is None:
                assert count == 40 or (dtype, count) == (dt.complex128, 9)
            else:
                assert plan.boxes.shared * dtype.itemsize * count <= 48 << 10
                assert len(plan.tail) <= 4096
    wide = layout_of(dt.int8, (2,) * 26, None, GPU)
    orders = [tuple(2 ** (axis * step % 26) for axis in range(26)) for step in (5, 7, 9)]
    turned = [layout_of(dt.int8, wide.shape, order, GPU) for order in orders]
    assert plan_boxes(wide, tuple(turned[:1]), POLICY) is not None
    assert plan_boxes(wide, tuple(turned), POLICY) is None


def test_planes_are_read_in_the_order_of_memory():
    shape = (3, 32, 8730, 32)
    x, y = (layout_of(dt.bfloat16, shape, strides, GPU) for strides in ((1, 3, 3072, 96), (32, 1, 3072, 96)))
    plan = plan_transpose(layout_of(dt.bool, shape, None, GPU), (x, y), POLICY)
    assert plan is not None
    assert plan.modes == (Mode.GATHER, Mode.TILE_PLANES_ROWS, Mode.TILE_ROWS)
    assert plan.tile == (32, 32, 4)


def test_a_result_keeps_the_order_of_most_operands():
    a = layout_of(dt.float32, (4, 3), (1, 4), GPU)
    c = layout_of(dt.float32, (4, 3), None, GPU)
    signature = Signature((dt.float32,) * 2, dt.bool, (4, 3))
    assert result_layout(signature, (a, a), GPU).strides == (1, 4)
    assert result_layout(signature, (a, c), GPU).strides == (3, 1)
    assert result_layout(signature, (a, float), GPU).strides == (1, 4)
    reversed_rows = layout_of(dt.float32, (4, 3), (-1, 10), GPU)
    assert result_layout(signature, (reversed_rows, reversed_rows), GPU).strides == (1, 4)
    assert result_layout(signature, (a, reversed_rows, c), GPU).strides == (1, 4)
    repeated = layout_of(dt.float32, (4, 3), (1, 0), GPU)
    assert result_layout(signature, (repeated, repeated), GPU).strides == (3, 1)
    assert result_layout(signature, (repeated, a), GPU).strides == (1, 4)


def test_a_result_has_no_short_innermost_axis_if_an_operand_has_a_long_one():
    shape = (16, 48, 999, 2)
    x, y = (layout_of(dt.float32, shape, strides, GPU) for strides in ((95904, 1, 48, 47952), (999, 31968, 1, 15984)))
    c = layout_of(dt.float32, shape, None, GPU)
    signature = Signature((dt.float32,) * 2, dt.float32, shape)
    assert result_layout(signature, (x, y), GPU).strides == x.strides
    assert result_layout(signature, (y, x), GPU).strides == y.strides
    assert result_layout(signature, (c, x), GPU).strides == x.strides
    assert result_layout(signature, (c, c, x), GPU).strides == c.strides


def test_overlap():
    x = layout_of(dt.float32, (8,), None, GPU)
    safe = safe_distance(x, x).holds
    assert [safe(distance) for distance in (0, 4, -4, 28, -28, 32, -32)] == [
        True,
        False,
        False,
        False,
        False,
        True,
        True,
    ]
    backwards = safe_distance(x, layout_of(dt.float32, (8,), (-1,), GPU)).holds
    assert [backwards(distance) for distance in (0, 28, 56, 60, -4)] == [False, False, False, True, True]
    assert not safe_distance(x, layout_of(dt.float64, (8,), None, GPU)).holds(0)
    assert overlaps_itself(layout_of(dt.float32, (8, 2), (1, 0), GPU))
    assert not overlaps_itself(layout_of(dt.float32, (8, 2), (1, 8), GPU))


@given(shapes.flatmap(lambda shape: st.tuples(st.just(shape), views(shape), st.integers(-40, 40))))
def test_a_safe_distance_shares_no_byte(case):
    shape, operand, elements = case
    out = layout_of(dt.float32, shape, None, GPU)
    distance = 4 * elements
    written = set(walk(shape, out.strides).ravel().tolist())
    read = {offset + elements for offset in walk(operand.shape, operand.strides).ravel().tolist()}
    if written & read and safe_distance(out, operand).holds(distance):
        assert distance == 0
        assert broadcast_strides(operand.shape, operand.strides, shape) == out.strides


@st.composite
def parts_of_one_array(draw, lengths):
    steps = contiguous_strides(tuple(lengths))
    parts = []
    for _ in range(2):
        ranges = [range(length)[draw(st.slices(length))] for length in lengths]
        strides = tuple(each.step * step for each, step in zip(ranges, steps, strict=True))
        first = sum(each.start * step for each, step in zip(ranges, steps, strict=True))
        parts.append((layout_of(dt.float32, tuple(map(len, ranges)), strides, GPU), first))
    (one, start), (other, first) = parts
    return one, other, first - start


@given(shapes.flatmap(lambda shape: st.tuples(views(shape), views(shape), st.integers(-40, 40))))
def test_elements_that_are_apart_share_no_byte(case):
    one, other, elements = case
    taken = set(walk(one.shape, one.strides).ravel().tolist())
    beside = {offset + elements for offset in walk(other.shape, other.strides).ravel().tolist()}
    assert not (taken & beside and elements_apart(one, other)(4 * elements))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3).flatmap(parts_of_one_array))
def test_parts_of_one_array_are_apart_where_they_share_nothing(case):
    """For slices of the same axes, the answer is exact."""
    one, other, elements = case
    taken = set(walk(one.shape, one.strides).ravel().tolist())
    beside = {offset + elements for offset in walk(other.shape, other.strides).ravel().tolist()}
    assert elements_apart(one, other)(4 * elements) == (not taken & beside)


def test_layouts_are_interned():
    a, b = (layout_of(dt.float32, (2, 1, 3), strides, GPU) for strides in ((3, 3, 1), (3, 77, 1)))
    assert a is b  # strides of axes of length 1 are ignored
    assert a.contiguous
    assert isinstance(a, Layout)
    assert layout_of(dt.float32, (2, 1, 3), None, GPU, 8) is not a


@given(st.integers(1, 2**48))
def test_alignment(address):
    assert address % alignment(address) == 0
    assert alignment(address) == 16 or address % (2 * alignment(address)) != 0


def test_extent_of_negative_strides():
    assert extent(layout_of(dt.float32, (4,), (-2,), GPU)) == (-24, 4)
    assert extent(layout_of(dt.float32, (0, 4), None, GPU)) == (0, 0)
