"""Triton kernels: count the scores of a strip of pictures, and score single pairs in float64.

Imported only where there is a GPU, since Triton comes with torch for CUDA and not elsewhere.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# Triton reads annotations as its own types, and has none for pointers.

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["first_row", "row_tiles", "column_tiles"])
def count_tile(
    pictures,
    captions,
    row_numbers,
    row_kinds,
    rows_held,
    column_numbers,
    column_kinds,
    columns_held,
    by_picture,
    by_caption,
    near_pairs,
    near_words,
    found,
    capacity,
    first_row,
    row_tiles,
    column_tiles,
    roundings,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    GROUP: tl.constexpr,
    COPIES: tl.constexpr,
):
    """One tile of scores: adds to the counts of its pictures and captions, and lists the pairs too near to tell.

    Vectors are sums of two float16 numbers (see `centred.py`): pictures [low | high], captions [high | low], each
    `WIDTH` wide, given as tensor descriptors: a Hopper GPU copies whole blocks of these by itself. Their product is
    low·high + high·low + high·high; the small parts come first, while sums are short. Of each row and column there are
    four numbers (shift, threshold, norm, other errors) and two kinds (its own, and that of the vector its threshold
    comes from), which are looked at with COPIES.
    """
    # Programs that run at the same time share rows and columns: a group of tiles goes down before it goes across.
    program = tl.program_id(0)
    group = program // (GROUP * column_tiles)
    height = min(row_tiles - group * GROUP, GROUP)
    within = program % (GROUP * column_tiles)
    row = first_row + (group * GROUP + within % height) * ROWS
    column = within // height * COLUMNS

    scores = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(0, 3 * WIDTH, DEPTH):
        last = start >= 2 * WIDTH
        at_left = tl.multiple_of(start - tl.where(last, WIDTH, 0), DEPTH)
        at_right = tl.multiple_of(start - tl.where(last, 2 * WIDTH, 0), DEPTH)
        scores = tl.dot(pictures.load([row, at_left]), captions.load([column, at_right]).T, scores)

    rows, columns = row + tl.arange(0, ROWS), column + tl.arange(0, COLUMNS)
    row_shift, row_threshold = tl.load(row_numbers + rows), tl.load(row_numbers + rows_held + rows)
    row_norm, row_error = tl.load(row_numbers + 2 * rows_held + rows), tl.load(row_numbers + 3 * rows_held + rows)
    longest_column = tl.max(tl.load(column_numbers + 2 * columns_held + columns), axis=0)
    row_error += roundings * longest_column * row_norm + _largest(tl.load(column_numbers + columns)) * 2.5e-7
    column_scale, column_extra = roundings * tl.max(row_norm, axis=0), _largest(row_shift) * 2.5e-7
    row_lower, row_upper = row_threshold - row_error, row_threshold + row_error

    # Quarters of the tile, one after the other, so that what is known of a score need not be held for all of them. The
    # counts of the four quarters' columns share a number, a byte for each. A column's place within eight says which
    # word it is in, and its eight which bit, as tensor cores spread scores over threads: no thread waits for another.
    above_column = tl.zeros([ROWS, COLUMNS // 4], tl.int32)
    above_row = tl.zeros([ROWS], tl.int32)
    words = tl.zeros([ROWS, 8], tl.int32)
    half_a, half_b = tl.split(tl.permute(tl.reshape(scores, [ROWS, 2, COLUMNS // 2]), [0, 2, 1]))
    for quarter in tl.static_range(4):
        half = half_a if quarter < 2 else half_b
        one, other = tl.split(tl.permute(tl.reshape(half, [ROWS, 2, COLUMNS // 4]), [0, 2, 1]))
        part = one if quarter % 2 == 0 else other
        local = tl.arange(0, COLUMNS // 4)
        at = column_numbers + column + quarter * (COLUMNS // 4) + local
        threshold, error = tl.load(at + columns_held), tl.load(at + 3 * columns_held)
        error += column_scale * tl.load(at + 2 * columns_held) + column_extra
        value = part + row_shift[:, None]
        above = value > (threshold + error)[None, :]
        reached = value >= (threshold - error)[None, :]
        value = part + tl.load(at)[None, :]
        above_other = value > row_upper[:, None]
        reached_other = value >= row_lower[:, None]
        if COPIES:
            kinds = column_kinds + column + quarter * (COLUMNS // 4) + local
            tied = tl.load(row_kinds + rows)[:, None] == tl.load(kinds + columns_held)[None, :]
            above, reached = above | tied, reached | tied
            tied = tl.load(row_kinds + rows_held + rows)[:, None] == tl.load(kinds)[None, :]
            above_other, reached_other = above_other | tied, reached_other | tied
        # A pair that is near either threshold is scored again, and counted then, in both directions.
        near = (above != reached) | (above_other != reached_other)
        above_column += tl.where(near, 0, above.to(tl.int32) << (8 * quarter))
        above_row += tl.sum(tl.where(near, 0, above_other.to(tl.int32)), axis=1)
        bits = near.to(tl.int32) << (local // 8 + quarter * (COLUMNS // 32))[None, :]
        words += tl.sum(tl.reshape(bits, [ROWS, COLUMNS // 32, 8]), axis=1)

    tl.atomic_add(by_picture + rows, above_row, sem="relaxed")
    counts = tl.sum(above_column, axis=0)
    for quarter in tl.static_range(4):
        at = by_caption + column + quarter * (COLUMNS // 4) + tl.arange(0, COLUMNS // 4)
        tl.atomic_add(at, (counts >> (8 * quarter)) & 255, sem="relaxed")

    words = tl.reshape(words, [ROWS * 8])
    place = tl.cumsum((words != 0).to(tl.int32), axis=0)
    total = tl.max(place, axis=0)
    if total > 0:
        first = tl.atomic_add(found, total.to(tl.int64), sem="relaxed")
        if first + total <= capacity:
            word = tl.arange(0, ROWS * 8)
            pair = ((row + word // 8).to(tl.int64) << 32) + column + word % 8
            tl.store(near_pairs + first + place - 1, pair, mask=words != 0)
            tl.store(near_words + first + place - 1, words, mask=words != 0)


@triton.jit
def _largest(shifts):
    """The largest but for those that only fill up the last tile, so low that no threshold is ever reached."""
    return tl.max(tl.where(shifts > -1e38, tl.abs(shifts), 0.0), axis=0)


@triton.jit(do_not_specialize=["count"])
def list_pairs(near_pairs, near_words, count, pairs, found, capacity, SIZE: tl.constexpr):
    """Write down the pairs of the words that `count_tile` left: bit b of a word stands for the pair 8·b captions on."""
    place = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    pair = tl.load(near_pairs + place, mask=place < count, other=0)
    words = tl.load(near_words + place, mask=place < count, other=0)
    bits = tl.zeros_like(words)
    for bit in tl.static_range(32):
        bits += (words >> bit) & 1
    total = tl.sum(bits, axis=0)
    first = tl.atomic_add(found, total.to(tl.int64), sem="relaxed")
    if first + total <= capacity:
        place = first + tl.cumsum(bits, axis=0) - bits
        for bit in tl.static_range(32):
            here = (words >> bit) & 1
            tl.store(pairs + place, pair + 8 * bit, mask=here == 1)
            place += here


@triton.jit(do_not_specialize=["count"])
def score_pairs(
    pairs,
    count,
    pictures,
    captions,
    own,
    best,
    by_picture,
    by_caption,
    WIDTH: tl.constexpr,
    PAIRS: tl.constexpr,
    LANES: tl.constexpr,
    STEPS: tl.constexpr,
    KEEP: tl.constexpr,
):
    """Float64 scores of pairs (picture in the upper half of a number, caption in the lower), counted both ways.

    With KEEP they are the thresholds of captions instead, and written to `own`. Every pair is added up in the order of
    `scores.row_sums`, over `LANES` sums, two to the power of `STEPS`, so that a score is the same wherever it is
    computed. Products of two float32 numbers are exact in float64: it is no matter whether they are added in one step.
    """
    place = tl.program_id(0).to(tl.int64) * PAIRS + tl.arange(0, PAIRS)
    valid = place < count
    pair = tl.load(pairs + place, mask=valid, other=0)
    picture, caption = pair >> 32, pair & 0xFFFFFFFF
    inward = tl.arange(0, LANES)
    sums = tl.zeros([PAIRS, LANES], tl.float64)
    for start in range(0, WIDTH, LANES):
        there = valid[:, None] & (start + inward < WIDTH)[None, :]
        left = tl.load(pictures + picture[:, None] * WIDTH + start + inward[None, :], mask=there, other=0.0)
        right = tl.load(captions + caption[:, None] * WIDTH + start + inward[None, :], mask=there, other=0.0)
        sums += left.to(tl.float64) * right.to(tl.float64)
    for step in tl.static_range(STEPS):  # not `tl.sum`, whose order the compiler chooses
        even, odd = tl.split(tl.reshape(sums, [PAIRS, LANES >> (step + 1), 2]))
        sums = even + odd
    score = tl.reshape(sums, [PAIRS])
    if KEEP:
        tl.store(own + caption, score, mask=valid)
    else:
        reached = valid & (score >= tl.load(own + caption, mask=valid, other=0.0))
        tl.atomic_add(by_caption + caption, reached.to(tl.int32), mask=reached, sem="relaxed")
        reached = valid & (score >= tl.load(best + picture, mask=valid, other=0.0))
        tl.atomic_add(by_picture + picture, reached.to(tl.int32), mask=reached, sem="relaxed")
