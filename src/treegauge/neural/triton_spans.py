"""Triton kernels of the span recursion: one program per sentence, for all widths.

The recursion and its letters are those of :mod:`treegauge.parsing.span_kernels`. Every number is a mantissa in [1, 2) and a binary
exponent, so sums are of plain products, and the rounding error is relative to each number and does not grow with log Z. A and R
share one square array, A above the diagonal as A[s, t] and R below it as R[t, s], so the splits of a span are adjacent; a second
square holds them transposed, and a third the outside values.
"""

import importlib
from typing import Any

from treegauge.neural.triton_language import tl, triton

ZERO: Any = triton.language.constexpr(-(1 << 28))
"""The exponent of 0."""
LARGEST: Any = triton.language.constexpr(1e7)
"""The limit on weights, whose exponents must fit; scores of +inf, and null scores of -inf, exceed it."""


@triton.jit
def power_of_two(k: "Any", DOUBLE: tl.constexpr) -> "Any":
    """2 ** k; 0 where that is below the smallest normal number."""
    if DOUBLE:
        bits = (tl.maximum(k, -1022) + 1023).to(tl.int64) << 52
        power = tl.where(k < -1022, 0.0, bits.to(tl.float64, bitcast=True))
    else:
        bits = (tl.maximum(k, -126) + 127) << 23
        power = tl.where(k < -126, 0.0, bits.to(tl.float32, bitcast=True))
    return power


@triton.jit
def normal(v: "Any", e: "Any", DOUBLE: tl.constexpr) -> "Any":
    """v 2^e as a mantissa in [1, 2) and an exponent."""
    if DOUBLE:
        k = (((v.to(tl.int64, bitcast=True) >> 52) & 2047) - 1023).to(tl.int32)
    else:
        k = ((v.to(tl.int32, bitcast=True) >> 23) & 255) - 127
    zero = v <= 0
    k = tl.where(zero, 0, k)
    return tl.where(zero, 0.0, v * power_of_two(-k, DOUBLE)), tl.where(zero, ZERO, e + k)


@triton.jit
def split_exp(w: "Any", DOUBLE: tl.constexpr) -> "Any":
    """e ** w as a mantissa near 1 and an exponent; ln 2 is split in two parts to keep precision for a large w."""
    dead = w < -1e8
    w = tl.where(dead, 0.0, w)
    k = tl.floor(w * 1.4426950408889634 + 0.5)
    if DOUBLE:
        f = (w - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    else:
        f = (w - k * 0.693359375) + k * 2.12194440054690582e-4
    return tl.where(dead, 0.0, tl.exp(f)), tl.where(dead, ZERO, k.to(tl.int32))


@triton.jit
def add_products(
    M: "Any", E: "Any", a: "Any", b: "Any", OM: "Any", OE: "Any", mask: "Any", total: "Any", scale: "Any", DOUBLE: tl.constexpr
) -> "Any":
    """Add the sum over the second axis of the numbers at ``a`` (in M, E) times those at ``b`` (in OM, OE) to total 2^scale."""
    k = tl.load(E + a, mask=mask, other=ZERO) + tl.load(OE + b, mask=mask, other=ZERO)
    top = tl.maximum(scale, tl.max(k, 1))
    x = tl.load(M + a, mask=mask, other=0.0) * tl.load(OM + b, mask=mask, other=0.0)
    x = x * power_of_two(k - top[:, None], DOUBLE)
    return total * power_of_two(scale - top, DOUBLE) + tl.sum(x, 1), top


@triton.jit
def exp_weights(LEFT: "Any", RIGHT: "Any", w: "Any", mask: "Any", DOUBLE: tl.constexpr) -> "Any":
    """e^left and e^right of spans, loaded before the splits are summed to hide the latency."""
    am, ae = split_exp(tl.load(LEFT + w, mask=mask, other=-1e9), DOUBLE)
    rm, re = split_exp(tl.load(RIGHT + w, mask=mask, other=-1e9), DOUBLE)
    return am, ae, rm, re


@triton.jit
def does_not_fit(LEFT: "Any", w: "Any", mask: "Any") -> "Any":
    """1 for each span whose weight is too large or not a number."""
    return tl.where(tl.load(LEFT + w, mask=mask, other=0.0) < LARGEST, 0, 1)


@triton.jit
def store_parts(
    M1: "Any", E1: "Any", M2: "Any", E2: "Any", am: "Any", ae: "Any", rm: "Any", re: "Any", up: "Any", down: "Any",
    v: "Any", e: "Any", mask: "Any", DOUBLE: tl.constexpr,
) -> "Any":  # fmt: skip
    """Store A and R of the spans whose inside value is v 2^e, in both orders."""
    am, ae = normal(v * am, e + ae, DOUBLE)
    rm, re = normal(v * rm, e + re, DOUBLE)
    tl.store(M1 + up, am, mask=mask)
    tl.store(E1 + up, ae, mask=mask)
    tl.store(M1 + down, rm, mask=mask)
    tl.store(E1 + down, re, mask=mask)
    tl.store(M2 + up, rm, mask=mask)
    tl.store(E2 + up, re, mask=mask)
    tl.store(M2 + down, am, mask=mask)
    tl.store(E2 + down, ae, mask=mask)


@triton.jit
def inside_kernel(
    LEFT: "Any", RIGHT: "Any", LENGTH: "Any", Z: "Any", M1: "Any", E1: "Any", M2: "Any", E2: "Any", n: "Any",
    TILE: tl.constexpr, SPLITS: tl.constexpr, DOUBLE: tl.constexpr,
) -> "Any":  # fmt: skip
    """Fill the inside chart of one sentence, and store its log Z: nan if one of its weights does not fit."""
    b = tl.program_id(0).to(tl.int64)
    length = tl.load(LENGTH + b)
    size = n + 1
    base = b * size * size
    weights = b * n * n
    kind = tl.float64 if DOUBLE else tl.float32
    j = tl.arange(0, SPLITS)
    i = tl.arange(0, TILE)
    broken = tl.zeros([TILE], tl.int32)
    for first in range(0, length, TILE):
        s = first + i
        mask = s < length
        broken += does_not_fit(LEFT, weights + s * n + s, mask)
        am, ae, rm, re = exp_weights(LEFT, RIGHT, weights + s * n + s, mask, DOUBLE)
        one, none = tl.full([TILE], 1.0, kind), tl.zeros([TILE], tl.int32)
        up, down = base + s * size + s + 1, base + (s + 1) * size + s
        store_parts(M1, E1, M2, E2, am, ae, rm, re, up, down, one, none, mask, DOUBLE)
    tl.debug_barrier()
    for d in range(2, length + 1):
        for first in range(0, length - d + 1, TILE):
            s = first + i
            mask = s <= length - d
            t = s + d
            broken += does_not_fit(LEFT, weights + s * n + t - 1, mask)
            am, ae, rm, re = exp_weights(LEFT, RIGHT, weights + s * n + t - 1, mask, DOUBLE)
            total = tl.zeros([TILE], kind)
            scale = tl.full([TILE], 2 * ZERO, tl.int32)
            for near in range(0, d - 1, SPLITS):
                r = s[:, None] + 1 + near + j[None, :]
                fits = mask[:, None] & (near + j[None, :] < d - 1)
                a = base + s[:, None] * size + r
                c = base + t[:, None] * size + r
                total, scale = add_products(M1, E1, a, c, M1, E1, fits, total, scale, DOUBLE)
            v, e = normal(total, scale, DOUBLE)
            up, down = base + s * size + t, base + t * size + s
            store_parts(M1, E1, M2, E2, am, ae, rm, re, up, down, v, e, mask, DOUBLE)
        tl.debug_barrier()
    m, k = tl.load(M1 + base + length), tl.load(E1 + base + length)
    z = tl.log(tl.where(m > 0, m, 1.0)) + k.to(kind) * 0.6931471805599453
    z = tl.where(m > 0, z, float("-inf"))
    tl.store(Z + b, tl.where(tl.sum(broken, 0) > 0, float("nan"), z))


@triton.jit
def outside_kernel(
    LEFT: "Any", RIGHT: "Any", LENGTH: "Any", Z: "Any", AS_LEFT: "Any", AS_RIGHT: "Any",
    M1: "Any", E1: "Any", M2: "Any", E2: "Any", M3: "Any", E3: "Any", n: "Any",
    TILE: tl.constexpr, SPLITS: tl.constexpr, DOUBLE: tl.constexpr,
) -> "Any":  # fmt: skip
    """Fill in the posteriors of one sentence's parts: nan where log Z is."""
    b = tl.program_id(0).to(tl.int64)
    length = tl.load(LENGTH + b)
    size = n + 1
    base = b * size * size
    weights = b * n * n
    kind = tl.float64 if DOUBLE else tl.float32
    j = tl.arange(0, SPLITS)
    i = tl.arange(0, TILE)
    zm, ze = tl.load(M1 + base + length), tl.load(E1 + base + length)
    # Where no tree is possible (Z = 0), every product below is 0 anyway.
    possible = tl.where(zm > 0, 1.0, 0.0)
    log_z = tl.load(Z + b)
    spoil = tl.where(log_z != log_z, log_z, 0.0)
    zm = tl.where(zm > 0, zm, 1.0)
    root_m, root_e = split_exp(tl.load(LEFT + weights + length - 1), DOUBLE)
    tl.store(M3 + base + length, root_m)
    tl.store(E3 + base + length, root_e)
    tl.store(M3 + base + length * size, root_m)
    tl.store(E3 + base + length * size, root_e)
    tl.store(AS_LEFT + weights + length - 1, possible + spoil)
    tl.debug_barrier()
    for less in range(1, length):
        d = length - less
        for first in range(0, less + 1, TILE):
            s = first + i
            mask = s <= less
            t = s + d
            up = base + s * size + t
            down = base + t * size + s
            w = weights + s * n + t - 1
            am, ae, rm, re = exp_weights(LEFT, RIGHT, w, mask, DOUBLE)
            left_m, left_e = tl.load(M1 + up, mask=mask, other=0.0), tl.load(E1 + up, mask=mask, other=ZERO)
            right_m, right_e = tl.load(M1 + down, mask=mask, other=0.0), tl.load(E1 + down, mask=mask, other=ZERO)
            fm = tl.zeros([TILE], kind)
            fe = tl.full([TILE], 2 * ZERO, tl.int32)
            gm = tl.zeros([TILE], kind)
            ge = tl.full([TILE], 2 * ZERO, tl.int32)
            for near in range(0, less, SPLITS):
                # A parent [s, u) with its right part [t, u); a parent [u, t) with its left part [u, s).
                u = t[:, None] + 1 + near + j[None, :]
                fits = mask[:, None] & (u <= length)
                a = base + s[:, None] * size + u
                c = base + t[:, None] * size + u
                fm, fe = add_products(M3, E3, a, c, M2, E2, fits, fm, fe, DOUBLE)
                u = near + j[None, :] + 0 * s[:, None]
                fits = mask[:, None] & (u < s[:, None])
                a = base + t[:, None] * size + u
                c = base + s[:, None] * size + u
                gm, ge = add_products(M3, E3, a, c, M2, E2, fits, gm, ge, DOUBLE)
            fm, fe = normal(fm, fe, DOUBLE)
            gm, ge = normal(gm, ge, DOUBLE)
            k = tl.maximum(tl.minimum(fe + left_e - ze, 100), 2 * ZERO)
            tl.store(AS_LEFT + w, fm * left_m / zm * power_of_two(k, DOUBLE) + spoil, mask=mask)
            k = tl.maximum(tl.minimum(ge + right_e - ze, 100), 2 * ZERO)
            tl.store(AS_RIGHT + w, gm * right_m / zm * power_of_two(k, DOUBLE) + spoil, mask=mask)
            fm = fm * am
            fe = tl.where(fm > 0, fe + ae, ZERO)
            gm = gm * rm
            ge = tl.where(gm > 0, ge + re, ZERO)
            top = tl.maximum(fe, ge)
            v, e = normal(fm * power_of_two(fe - top, DOUBLE) + gm * power_of_two(ge - top, DOUBLE), top, DOUBLE)
            tl.store(M3 + up, v, mask=mask)
            tl.store(E3 + up, e, mask=mask)
            tl.store(M3 + down, v, mask=mask)
            tl.store(E3 + down, e, mask=mask)
        tl.debug_barrier()


def span_sums_triton(
    left: Any, right: Any, lengths: Any, posteriors: bool, *, tile: int = 0, splits: int = 0, warps: int = 0
) -> Any:
    """log Z (B,) and, with ``posteriors``, the posteriors of left and right parts (B, n, n), in the type of the weights; nan for a
    sentence with a weight that is too large or not a number.

    A program handles ``tile`` spans and ``splits`` splits at once, with ``warps`` warps; 0 stands for the best choice on an H200.
    """
    torch: Any = importlib.import_module("torch")
    B, n, _ = left.shape
    double = left.dtype == torch.float64
    short = n <= 64
    tile, splits, warps = tile or (16 if short else 32), splits or (16 if short else 32), warps or (4 if short else 8)
    lengths = lengths.to(torch.int32)
    square = (2 + posteriors, B, n + 1, n + 1)
    m, e = left.new_empty(square), left.new_empty(square, dtype=torch.int32)
    z = left.new_empty(B)
    options: dict[str, Any] = {"TILE": tile, "SPLITS": splits, "DOUBLE": double, "num_warps": warps}
    inside_kernel[(B,)](left, right, lengths, z, m[0], e[0], m[1], e[1], n, **options)
    if not posteriors:
        return z, None, None
    as_left, as_right = left.new_zeros((2, B, n, n))
    outside_kernel[(B,)](left, right, lengths, z, as_left, as_right, m[0], e[0], m[1], e[1], m[2], e[2], n, **options)
    return z, as_left, as_right
