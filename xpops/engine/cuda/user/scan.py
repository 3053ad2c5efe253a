"""User-defined scans as kernels of the scan family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.reduce import STATE_BYTES
from xpops.engine.cuda.kernels.scan import launched, template_arguments
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.engine.cuda.tuning import scan_policy
from xpops.engine.cuda.user.elementwise import method, opening, within
from xpops.engine.cuda.user.operands import c_type, computed
from xpops.engine.cuda.user.reduce import conversion, state_dtype, state_text, state_type
from xpops.engine.program import Kernel
from xpops.plan.scan import plan_scan
from xpops.plan.scan.parameters import ScanPlan, ScanPolicy
from xpops.plan.user import Types, UserReduction

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def scanned(runtime: Runtime, scan: UserReduction, types: Types, x: Layout, axis: int, out: Layout) -> Kernel:
    """The kernel ``(stream, out, x)`` that scans `x`, which is not empty, along an axis."""
    policy = scan_policy(runtime.context.capability, runtime.context.multiprocessors)
    plan, source = scan_source(scan, types, x, axis, out, policy)
    return launched(runtime, scan.map.name, plan, source, x, out)


def scan_source(
    scan: UserReduction, types: Types, x: Layout, axis: int, out: Layout, policy: ScanPolicy
) -> tuple[ScanPlan, str]:
    """The plan and the source. Needs no GPU."""
    state = state_dtype(scan, types)
    plan = plan_scan(x, out, axis, False, False, STATE_BYTES if state is None else state.itemsize, policy)
    lines = opening(scan.map, types, f"kernels/scan/{plan.header}", state=state_text(scan))
    _scanner(lines, scan, types)
    numbers = template_arguments(plan)
    entry = [
        kernel_text(
            launch_bounds(plan.block, plan.resident),
            f"ScanParams<4, {plan.rank}>",
            f"scan_{plan.kernel}<::XpopsScanTypes, {numbers}>",
        ),
    ]
    return plan, "\n".join([*lines, *within(entry)])


def _scanner(lines: list[str], scan: UserReduction, types: Types) -> None:
    """Add the scanner (see ``math/scan.cuh``), and the structure that replaces `ScanTypes` of ``scan.cuh``."""
    operation, made = scan.map, f"return {conversion(scan, types)}("
    (given,), (out,), name = types.ins, types.outs, operation.name
    result, target = computed(out), operation.outs[0].name
    lines += [
        "struct XpopsScanner {",
        f"  using State = {state_type(scan, types)};",
        f'  static_assert(sizeof(State) <= {STATE_BYTES}, "states of up to {STATE_BYTES} bytes");',
        "  XPOPS_DEVICE explicit XpopsScanner(const xpops::uint64*) {}",
    ]
    head = f"State lift({computed(given)} {operation.ins[0].name}) const"
    method(lines, head, made, (operation.body, "map_expr", name), ");")
    method(lines, "State combine(State a, State b) const", made, (scan.combine, "scan_expr", name), ");")
    head, after = f"{result} value(State a) const", f"; return {target};"
    method(lines, head, f"{result} {target}{{}};", (scan.finish, "post_map_expr", name), after)
    kind = c_type(given)
    lines += [
        f"  XPOPS_DEVICE {result} initial() const {{ return {result}{{}}; }}",
        "};",
        "struct XpopsScanTypes {",
        f"  using In = typename xpops::Storage<{kind}>::type;",
        f"  using Out = {c_type(out)};",
        "  using Op = XpopsScanner;",
        "  using State = XpopsScanner::State;",
        "  XPOPS_DEVICE static State lift(const Op& op, In x) {",
        f"    return op.lift(xpops::to_compute<{kind}, {kind}, {computed(given)}>(x));",
        "  }",
        "  XPOPS_DEVICE static Out value(const Op& op, const State& a) { return xpops::cast<Out>(op.value(a)); }",
        "};",
    ]
