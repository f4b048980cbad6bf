"""Sums over the coordinates of two or three rows, four at a time.

The compiler may not reorder a floating-point sum, so it would add one coordinate after the other. Here the order is
laid down instead: four running sums, one per lane of a vector, added at the end as (s0 + s1) + (s2 + s3). That is the
same on every machine, whatever the width of its vectors. Rows must be contiguous, their length a multiple of four.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LANES = 4
_VECTOR = ir.VectorType(ir.DoubleType(), _LANES)


def _row(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> tuple[Any, Any]:
    # The address of a row and the length of rows.
    value = context.make_array(kind)(context, builder, array)
    width = cgutils.unpack_tuple(builder, value.shape)[1]
    return builder.gep(value.data, [builder.mul(index, width)]), width


def _four(builder: Any, row: Any, at: Any) -> Any:
    address = builder.bitcast(builder.gep(row, [at]), _VECTOR.as_pointer())
    return builder.load(address, align=8)


def _sum_lanes(builder: Any, vector: Any) -> Any:
    lane = [builder.extract_element(vector, ir.Constant(ir.IntType(32), a)) for a in range(_LANES)]
    return builder.fadd(builder.fadd(lane[0], lane[1]), builder.fadd(lane[2], lane[3]))


def _sums(builder: Any, width: Any, terms: int, step: Callable[[Any], list[Any]]) -> list[Any]:
    # Adds up ``terms`` vectors that ``step`` makes for every four coordinates.
    zero = ir.Constant(_VECTOR, [0.0] * _LANES)
    totals = [cgutils.alloca_once_value(builder, zero) for _ in range(terms)]
    vectors = builder.sdiv(width, ir.Constant(width.type, _LANES))
    with cgutils.for_range(builder, vectors) as loop:
        at = builder.mul(loop.index, ir.Constant(width.type, _LANES))
        for total, term in zip(totals, step(at), strict=True):
            builder.store(builder.fadd(builder.load(total), term), total)
    return [_sum_lanes(builder, builder.load(total)) for total in totals]


@intrinsic
def squared_distance(typing, one, i, other, j):  # type: ignore[no-untyped-def]
    """Squared distance of row i of one array and row j of another."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        first, width = _row(context, builder, signature.args[0], args[0], args[1])
        second, _ = _row(context, builder, signature.args[2], args[2], args[3])

        def step(at: Any) -> list[Any]:
            t = builder.fsub(_four(builder, first, at), _four(builder, second, at))
            return [builder.fmul(t, t)]

        return _sums(builder, width, 1, step)[0]

    return types.float64(one, types.intp, other, types.intp), generate


@intrinsic
def towards(typing, points, x, centres, i, j):  # type: ignore[no-untyped-def]
    """The product of (x − centre i) and (centre j − centre i)."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        point, width = _row(context, builder, signature.args[0], args[0], args[1])
        here, _ = _row(context, builder, signature.args[2], args[2], args[3])
        there, _ = _row(context, builder, signature.args[2], args[2], args[4])

        def step(at: Any) -> list[Any]:
            own = _four(builder, here, at)
            t = builder.fsub(_four(builder, point, at), own)
            return [builder.fmul(t, builder.fsub(_four(builder, there, at), own))]

        return _sums(builder, width, 1, step)[0]

    return types.float64(points, types.intp, centres, types.intp, types.intp), generate


@intrinsic
def swap_gain(typing, points, x, y, centres, i, j, f):  # type: ignore[no-untyped-def]
    """By how much the error falls when x of group i and y of group j change places; f = 1/size(i) + 1/size(j).

    f·|x−y|² − 2 (x−y)·(centre i − centre j)
    """

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kind_points, kind_centres = signature.args[0], signature.args[3]
        one, width = _row(context, builder, kind_points, args[0], args[1])
        other, _ = _row(context, builder, kind_points, args[0], args[2])
        here, _ = _row(context, builder, kind_centres, args[3], args[4])
        there, _ = _row(context, builder, kind_centres, args[3], args[5])

        def step(at: Any) -> list[Any]:
            t = builder.fsub(_four(builder, one, at), _four(builder, other, at))
            apart = builder.fsub(_four(builder, here, at), _four(builder, there, at))
            return [builder.fmul(t, t), builder.fmul(t, apart)]

        square, product = _sums(builder, width, 2, step)
        two = ir.Constant(ir.DoubleType(), 2.0)
        return builder.fsub(builder.fmul(args[6], square), builder.fmul(two, product))

    signature = types.float64(points, types.intp, types.intp, centres, types.intp, types.intp, types.float64)
    return signature, generate


@intrinsic
def set_mean(typing, points, members, g, size, centres):  # type: ignore[no-untyped-def]
    """Write the mean of the first ``size`` members of group g into its row of the centres."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        source = context.make_array(signature.args[0])(context, builder, args[0]).data
        listed, _ = _row(context, builder, signature.args[1], args[1], args[2])
        target, width = _row(context, builder, signature.args[4], args[4], args[2])
        share = builder.fdiv(ir.Constant(ir.DoubleType(), 1.0), builder.sitofp(args[3], ir.DoubleType()))
        shares = ir.Constant(_VECTOR, ir.Undefined)
        for a in range(_LANES):
            shares = builder.insert_element(shares, share, ir.Constant(ir.IntType(32), a))
        total = cgutils.alloca_once(builder, _VECTOR)
        four = ir.Constant(width.type, _LANES)
        with cgutils.for_range(builder, builder.sdiv(width, four)) as block:
            at = builder.mul(block.index, four)
            builder.store(ir.Constant(_VECTOR, [0.0] * _LANES), total)
            with cgutils.for_range(builder, args[3]) as member:
                record = builder.load(builder.gep(listed, [member.index]))
                row = builder.gep(source, [builder.mul(record, width)])
                builder.store(builder.fadd(builder.load(total), _four(builder, row, at)), total)
            mean = builder.fmul(builder.load(total), shares)
            address = builder.bitcast(builder.gep(target, [at]), _VECTOR.as_pointer())
            builder.store(mean, address, align=8)
        return context.get_dummy_value()

    return types.void(points, members, types.intp, types.intp, centres), generate


@intrinsic
def lent(typing, array):  # type: ignore[no-untyped-def]
    """The same array without its count of references, which inner loops would raise and lower at every call.

    Of a tuple all arrays are lent. Whoever lends must hold the array itself for as long as the loan is used.
    """

    def lend(context, builder, kind, value):  # type: ignore[no-untyped-def]
        if isinstance(kind, types.BaseTuple):
            parts = zip(kind, cgutils.unpack_tuple(builder, value), strict=True)
            return context.make_tuple(builder, kind, [lend(context, builder, *part) for part in parts])
        if not isinstance(kind, types.Array):
            return value
        loan = context.make_array(kind)(context, builder, value)
        loan.meminfo = ir.Constant(loan.meminfo.type, None)
        loan.parent = ir.Constant(loan.parent.type, None)
        return loan._getvalue()

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return lend(context, builder, signature.args[0], args[0])

    return array(array), generate
