"""Triton kernels of a dense PCFG: one launch for all spans of a width, one program per span.

The letters and arrays are those of :mod:`treegauge.neural.dense`. In the inside pass a program sums the products of its splits into
one N x N matrix (which is stored for the counts), applies all rules to it, and adds the splits that cut off a word. In the outside
pass it applies the rules to its outside values and adds the results to the parts of each split. A launch covers spans of one width,
each of which writes to its own cells, so a device gives the same bits each time.
"""

from typing import Any

from treegauge.neural.triton_language import tl, triton

LARGEST_N = 64
"""The most nonterminals: with more, a span's matrix does not fit the registers of a program, and matrix products use the whole
device anyway."""

SPLITS_AT_ONCE = 16


@triton.jit(do_not_specialize=["d", "offset"])
def inside_kernel(
    CHART: "Any", ENDS: "Any", SCALE: "Any", ENDS_SCALE: "Any", FACTOR: "Any", TOP: "Any", PRODUCTS: "Any", RULES: "Any",
    LARGEST: "Any", FIRST: "Any", LAST: "Any", WORD_SCALE: "Any", ALLOWED: "Any", n: "Any", N: "Any", rule_step: "Any",
    largest_step: "Any", spans: "Any", d: "Any", offset: "Any",
    SIZE: tl.constexpr, SPLITS: tl.constexpr, SHARED: tl.constexpr, MASKED: tl.constexpr,
) -> "Any":  # fmt: skip
    """Fill in one span of width d."""
    s = tl.program_id(0)
    b = tl.program_id(1).to(tl.int64)
    t = s + d
    cells = b * (n + 1) * (n + 1)
    row, column = cells + s * (n + 1), cells + t * (n + 1)
    a = tl.arange(0, SIZE)
    j = tl.arange(0, SPLITS)
    pair = (a < N)[:, None] & (a < N)[None, :]
    begin, end = s + 2, t - 1
    if SHARED:
        begin, end = s + 1, t
    top = -2e30
    for near in range(begin, end, SPLITS):
        r = near + j
        scale = tl.load(SCALE + row + r, mask=r < end, other=-1e30) + tl.load(ENDS_SCALE + column + r, mask=r < end, other=-1e30)
        top = tl.maximum(top, tl.max(scale, 0))
    of_first, of_last = -2e30, -2e30
    if not SHARED:
        of_first = tl.load(SCALE + row + n + 1 + t) + tl.load(WORD_SCALE + b * n + s)
        of_last = tl.load(SCALE + row + t - 1) + tl.load(WORD_SCALE + b * n + t - 1)
        top = tl.maximum(top, tl.maximum(of_first, of_last))
    x = tl.zeros([SIZE, SIZE], tl.float32)
    for near in range(begin, end, SPLITS):
        r = near + j
        scale = tl.load(SCALE + row + r, mask=r < end, other=-1e30) + tl.load(ENDS_SCALE + column + r, mask=r < end, other=-1e30)
        w = tl.where(r < end, tl.exp(scale - top), 0.0)
        left = tl.load(CHART + (row + r)[None, :] * N + a[:, None], mask=(a < N)[:, None] & (r < end)[None, :], other=0.0)
        right = tl.load(ENDS + (column + r)[:, None] * N + a[None, :], mask=(r < end)[:, None] & (a < N)[None, :], other=0.0)
        x += tl.dot(left * w[None, :], right, input_precision="ieee")
    tl.store(PRODUCTS + (b * spans + offset + s) * N * N + a[:, None] * N + a[None, :], x, mask=pair)
    u = tl.zeros([SIZE], tl.float32)
    for A in range(N):
        p = tl.load(RULES + b * rule_step + A * N * N + a[:, None] * N + a[None, :], mask=pair, other=0.0)
        u = tl.where(a == A, tl.sum(tl.sum(p * x, 1), 0), u)
    if not SHARED:
        g = tl.load(FIRST + (b * n + s) * N * N + a[:, None] * N + a[None, :], mask=pair, other=0.0)
        e = tl.load(CHART + (row + n + 1 + t) * N + a, mask=a < N, other=0.0)
        u += tl.sum(g * e[None, :], 1) * tl.exp(of_first - top)
        g = tl.load(LAST + (b * n + t - 1) * N * N + a[:, None] * N + a[None, :], mask=pair, other=0.0)
        e = tl.load(CHART + (row + t - 1) * N + a, mask=a < N, other=0.0)
        u += tl.sum(g * e[None, :], 1) * tl.exp(of_last - top)
    largest = tl.load(LARGEST + b * largest_step + a, mask=a < N, other=-1e30)
    value = tl.where((u > 0) & (a < N), tl.log(tl.where(u > 0, u, 1.0)) + largest, -2e30)
    high = tl.max(value, 0)
    alive = tl.where(high > -5e29, 1.0, 0.0)
    if MASKED:
        alive = alive * tl.load(ALLOWED + b * n * n + s * n + t - 1).to(tl.float32)
    factor = tl.where(alive > 0, tl.exp(largest - tl.where(alive > 0, high, 0.0)), 0.0)
    made = u * factor
    scale = tl.where(alive > 0, top + high, -1e30)
    tl.store(FACTOR + (row + t) * N + a, factor, mask=a < N)
    tl.store(CHART + (row + t) * N + a, made, mask=a < N)
    tl.store(ENDS + (column + s) * N + a, made, mask=a < N)
    tl.store(SCALE + row + t, scale)
    tl.store(ENDS_SCALE + column + s, scale)
    tl.store(TOP + row + t, top)


@triton.jit(do_not_specialize=["d", "offset"])
def outside_kernel(
    CHART: "Any", ENDS: "Any", SCALE: "Any", ENDS_SCALE: "Any", FACTOR: "Any", TOP: "Any", RULES: "Any", FIRST: "Any", LAST: "Any",
    WORD_SCALE: "Any", BACK: "Any", BACK_ENDS: "Any", H: "Any", H_SPANS: "Any", n: "Any", N: "Any", rule_step: "Any",
    spans: "Any", d: "Any", offset: "Any", SIZE: tl.constexpr, SPLITS: tl.constexpr, SHARED: tl.constexpr,
) -> "Any":  # fmt: skip
    """Add the outside values of one span of width d to its parts."""
    s = tl.program_id(0)
    b = tl.program_id(1).to(tl.int64)
    t = s + d
    cells = b * (n + 1) * (n + 1)
    row, column = cells + s * (n + 1), cells + t * (n + 1)
    a = tl.arange(0, SIZE)
    j = tl.arange(0, SPLITS)
    own = a < N
    pair = own[:, None] & own[None, :]
    flow = tl.load(BACK + (row + t) * N + a, mask=own, other=0.0) + tl.load(BACK_ENDS + (column + s) * N + a, mask=own, other=0.0)
    h = tl.minimum(flow, 1e30) * tl.load(FACTOR + (row + t) * N + a, mask=own, other=0.0)
    tl.store(H + (row + t) * N + a, h, mask=own)
    tl.store(H_SPANS + (b * spans + offset + s) * N + a, h, mask=own)
    down = tl.zeros([SIZE, SIZE], tl.float32)
    for A in range(N):
        one = tl.sum(tl.where(a == A, h, 0.0), 0)
        down += one * tl.load(RULES + b * rule_step + A * N * N + a[:, None] * N + a[None, :], mask=pair, other=0.0)
    top = tl.load(TOP + row + t)
    begin, end = s + 2, t - 1
    if SHARED:
        begin, end = s + 1, t
    for near in range(begin, end, SPLITS):
        r = near + j
        fits = (r < end)[:, None] & own[None, :]
        scale = tl.load(SCALE + row + r, mask=r < end, other=-1e30) + tl.load(ENDS_SCALE + column + r, mask=r < end, other=-1e30)
        w = tl.where(r < end, tl.exp(tl.minimum(scale - top, 0.0)), 0.0)[:, None]
        to_left = (row + r)[:, None] * N + a[None, :]
        to_right = (column + r)[:, None] * N + a[None, :]
        right = tl.load(ENDS + to_right, mask=fits, other=0.0)
        given = w * tl.dot(right, tl.trans(down), input_precision="ieee")
        tl.store(BACK + to_left, tl.load(BACK + to_left, mask=fits, other=0.0) + given, mask=fits)
        left = tl.load(CHART + to_left, mask=fits, other=0.0)
        given = w * tl.dot(left, down, input_precision="ieee")
        tl.store(BACK_ENDS + to_right, tl.load(BACK_ENDS + to_right, mask=fits, other=0.0) + given, mask=fits)
    if not SHARED:
        # If the first word is cut off, the other part is the right one; if the last word, the left one.
        w = tl.exp(tl.minimum(tl.load(SCALE + row + n + 1 + t) + tl.load(WORD_SCALE + b * n + s) - top, 0.0))
        g = tl.load(FIRST + (b * n + s) * N * N + a[:, None] * N + a[None, :], mask=pair, other=0.0)
        place = BACK_ENDS + (column + s + 1) * N + a
        tl.store(place, tl.load(place, mask=own, other=0.0) + w * tl.sum(g * h[:, None], 0), mask=own)
        w = tl.exp(tl.minimum(tl.load(SCALE + row + t - 1) + tl.load(WORD_SCALE + b * n + t - 1) - top, 0.0))
        g = tl.load(LAST + (b * n + t - 1) * N * N + a[:, None] * N + a[None, :], mask=pair, other=0.0)
        place = BACK + (row + t - 1) * N + a
        tl.store(place, tl.load(place, mask=own, other=0.0) + w * tl.sum(g * h[:, None], 0), mask=own)


def _each_width(kernel: Any, widths: range, n: int, B: int, arguments: tuple[Any, ...], constants: tuple[Any, ...]) -> None:
    """Launch a kernel once per width, with ``arguments``, the width, the index of its first span, and ``constants``.

    Only the first launch goes through Triton's dispatcher, which checks every argument and takes longer than the work of a small
    batch. The compiled kernel works for all widths, because neither changing number is specialised.
    """
    compiled: Any = None
    for d in widths:
        spans_before = (d - 2) * (2 * n - d + 1) // 2
        grid = (n - d + 1, B, 1)
        if compiled is None:
            compiled = kernel[grid](*arguments, d, spans_before, *constants, num_warps=4)
        else:
            compiled[grid](*arguments, d, spans_before, *constants)


def _size(N: int) -> int:
    return max(16, triton.next_power_of_2(N))


def inside_widths(c: Any, rules: Any, allowed: Any, first: int) -> Any:
    """Fill the chart from width ``first`` on; return the summed products of all spans (B, spans, N*N), ordered by width."""
    B, n, _ = c.words.shape
    N = c.chart.shape[-1]
    spans = n * (n - 1) // 2
    products = c.chart.new_zeros((B, spans, N * N))
    by_first, by_last = (c.chart if x is None else x for x in (c.by_first, c.by_last))
    mask = c.chart if allowed is None else allowed.to(c.chart.dtype).contiguous()
    steps = (N * N * N, N) if rules.batched else (0, 0)
    charts = (c.chart, c.ends, c.scale, c.ends_scale, c.factor, c.top, products)
    grammar = (rules.both.contiguous(), rules.largest.contiguous(), by_first, by_last, c.word_scale, mask)
    constants = (_size(N), SPLITS_AT_ONCE, c.shared, allowed is not None)
    _each_width(inside_kernel, range(first, n + 1), n, B, (*charts, *grammar, n, N, *steps, spans), constants)
    return products


def outside_widths(c: Any, rules: Any, back: Any, last: int) -> tuple[Any, Any]:
    """Fill in the outside values down to width ``last``; return the gradient with respect to each span's rule sums, by span
    (B, n+1, n+1, N) and in the order of the products (B, spans, N)."""
    B, n, _ = c.words.shape
    N = c.chart.shape[-1]
    spans = n * (n - 1) // 2
    h, in_row = back.chart.new_zeros(back.chart.shape), back.chart.new_zeros((B, spans, N))
    by_first, by_last = (c.chart if x is None else x for x in (c.by_first, c.by_last))
    charts = (c.chart, c.ends, c.scale, c.ends_scale, c.factor, c.top)
    grammar = (rules.both.contiguous(), by_first, by_last, c.word_scale)
    sizes = (n, N, N * N * N if rules.batched else 0, spans)
    arguments = (*charts, *grammar, back.chart, back.ends, h, in_row, *sizes)
    _each_width(outside_kernel, range(n, last - 1, -1), n, B, arguments, (_size(N), SPLITS_AT_ONCE, c.shared))
    return h, in_row
