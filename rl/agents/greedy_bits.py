"""Greedy's digits for many boards at once, one bit a board: the fast twin of `greedy_scores`.

A plane is a row of slots, a slot is one cell of all boards, 64 of them to a word:

    # # # #            a 2x3 board, walls between its rows. A step right is one slot, a step down four: to look k steps
    # a b c            along a line, from every cell of every board, is to read the same plane k steps further on.
    # d e f            A wall is neither a stone nor empty, so every walk ends there.
    # # # #

What the definition asks of one cell becomes a few ANDs and ORs of whole planes. With a, b = how many stones a stone on
the cell would join on the negative and on the positive side of a line,

    a >= k           there is a stone 1, 2, ... k steps back
    a + b >= j       either is, or the shorter is at least i and the longer at least j - i, for an i up to j / 2
    open behind      OR over k of (a >= k) & empty k + 1 steps back

and "the digit is at least 5, 4, 3, 2, 1" are five planes, to be ORed over lines (and colours).
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from rl.sampling import running_sums

Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]
WORD = 64
AT_ONCE = 1024  # boards looked at together


def pack(boards: Bools) -> Words:
    """boards (N, A), N a multiple of 64 -> planes (A, N / 64), bit by bit in the order of `dealt`."""
    eight = boards.view(np.uint8).reshape(8, -1)  # boards of which each eighth goes to a bit of its own
    packed = eight[7].copy()
    for bit in range(6, -1, -1):
        np.add(packed, packed, out=packed)  # one bit up; a shift of bytes takes several times as long
        packed |= eight[bit]
    planes: Words = np.ascontiguousarray(packed.reshape(len(boards) // 8, -1).T).view("<u8")
    return planes


def unpack(planes: Words) -> NDArray[np.uint8]:
    """planes (A, N / 64) -> (A, N) zeros and ones, boards in the order of `dealt`."""
    return np.unpackbits(planes.view(np.uint8), axis=1, bitorder="little")


def dealt(count: int) -> NDArray[np.int64]:
    """Which board each bit belongs to, N = ``count`` made a multiple of 64: bit b of byte j to board b * N / 8 + j."""
    return np.arange(-(-count // WORD) * WORD).reshape(8, -1).T.reshape(-1)


def at_least(stones: Words, empty: Words, height: int, width: int, win_length: int) -> Words:
    """Where the digit is at least 1, 2, 3, 4, 5: (5, A, words), for stones and empty cells (A, words).

    Only empty cells mean anything: an occupied one is scored as if a stone were put there too.
    """
    across, words = width + 1, stones.shape[1]
    if win_length == 1:
        return ~np.zeros((5, height * width, words), dtype=np.uint64)  # every stone wins
    margin = win_length * (across + 1)  # a look this far beyond the board finds nothing
    size = (height * across - 1) * words  # from the first cell to the last

    def walled() -> Words:
        return np.zeros((2 * margin + height * across) * words, dtype=np.uint64)

    def seen(plane: Words, steps: int) -> Words:
        """What all cells see so many slots further on."""
        first = (margin + steps) * words
        return plane[first : first + size]

    def board(slots: Words) -> Words:
        return slots.reshape(*slots.shape[:-1], height, across, words)[..., :width, :]

    own, free = walled(), walled()
    for plane, of in ((own, stones), (free, empty)):
        board(plane[margin * words : (margin + height * across) * words])[...] = of.reshape(height, width, words)
    runs = [own, *(walled() for _ in range(win_length - 2))]  # runs[k]: stones here and on the k slots before
    levels = np.zeros((5, height * across * words), dtype=np.uint64)
    one, two, three, four, five = levels[:, :size]
    part, behind_open, ahead_open, *room = np.empty((3 + len(runs) + len(runs) // 2, size), dtype=np.uint64)
    for step in (1, across, across + 1, across - 1):
        for k in range(1, len(runs)):
            np.bitwise_and(seen(own, 0), seen(runs[k - 1], -step), out=seen(runs[k], 0))
        behind = [seen(run, -step) for run in runs]  # behind[k]: a >= k + 1
        ahead = [seen(run, (k + 1) * step) for k, run in enumerate(runs)]  # ahead[k]: b >= k + 1
        for way, side, opened in ((-step, behind, behind_open), (step, ahead, ahead_open)):
            before = seen(free, way)
            for k, run in enumerate(side[:-1]):  # the last of them is a five, open or not
                before = np.bitwise_or(before, np.bitwise_and(run, seen(free, (k + 2) * way), part), opened)
            if before is not opened:
                opened[...] = before
        either = list(map(np.bitwise_or, behind, ahead, room))  # either[k]: the longer of both >= k + 1
        both = list(map(np.bitwise_and, behind, ahead, room[len(runs) :]))  # both[k]: the shorter
        somewhere = np.bitwise_or(behind_open, ahead_open, ahead_open)
        negative = np.bitwise_and(behind_open, behind[0], behind_open)
        for joined, sure, likely, condition in (
            (win_length - 1, five, five, somewhere),
            (win_length - 2, three, four, somewhere),
            (win_length - 3, two, three, negative),
            (win_length - 4, one, two, negative),
        ):
            if joined < 1:
                break
            reach = either[joined - 1]  # made a + b >= joined; no smaller number asks for it
            for k in range(1, (joined + 1) // 2):
                np.bitwise_or(reach, np.bitwise_and(both[k - 1], either[joined - k - 1], part), reach)
            if joined % 2 == 0:
                np.bitwise_or(reach, both[joined // 2 - 1], reach)
            np.bitwise_or(sure, reach, sure)
            if likely is not sure:
                np.bitwise_or(likely, np.bitwise_and(reach, condition, part), likely)
    for lower, higher in ((four, five), (three, four), (two, three), (one, two)):
        np.bitwise_or(lower, higher, lower)
    return np.ascontiguousarray(board(levels)).reshape(5, height * width, words)


def greedy_digits(stones: Bools, empty: Bools, win_length: int) -> NDArray[np.uint8]:
    """The digit of every cell of many boards: stones, empty (N, H, W) -> (N, H, W), meaningful on empty cells."""
    count, height, width = stones.shape
    digits = np.empty((height * width, count), dtype=np.uint8)
    for first in range(0, count, AT_ONCE):
        some = slice(first, first + AT_ONCE)
        planes = [pack(whole_words(boards[some])) for boards in (stones, empty)]
        levels = at_least(planes[0], planes[1], height, width, win_length)
        order = dealt(len(stones[some]))
        total = np.empty((height * width, len(order)), dtype=np.uint8)
        total[:, order] = reduce(np.add, [unpack(level) for level in levels])
        digits[:, some] = total[:, : count - first]
    return digits.reshape(height, width, count).transpose(2, 0, 1)


def greedy_choice(
    stones: Bools, legal: Bools, win_length: int, uniforms: NDArray[np.float64], sharp: bool = False
) -> NDArray[np.int64]:
    """A legal cell with the largest digit for either colour on each board; among k equals the floor(uniform * k)-th.

    stones (N, 2, H, W), one's own and the other's, legal (N, A); uniforms (N,) in [0, 1), all 0 for the first of
    equals. If `sharp`, a win of one's own counts for more than any other cell. Returns (N,) cells.
    """
    count, _, height, width = stones.shape
    chosen = np.empty(count, dtype=np.int64)
    for first in range(0, count, AT_ONCE):
        some = slice(first, first + AT_ONCE)
        mine, theirs = np.split(pack(whole_words(stones[some])), 2)
        empty = ~(mine | theirs)
        allowed = pack(whole_words(legal[some]))
        sides = at_least(np.hstack([mine, theirs]), np.hstack([empty, empty]), height, width, win_length)
        ours, others = np.split(sides, 2, axis=2)
        levels = ours | others  # (5, A, words)
        if sharp:
            levels = np.concatenate([levels, ours[-1:]])
        levels &= allowed
        reached = np.bitwise_or.reduce(levels, axis=1)  # by some cell of the board
        candidates = np.zeros_like(allowed)
        undecided = ~np.zeros_like(allowed[0])  # the boards on which no cell has reached any level yet
        for level, boards in zip(levels[::-1], reached[::-1], strict=True):
            candidates |= level & (boards & undecided)
            undecided &= ~boards
        candidates |= allowed & undecided
        ones, order = unpack(candidates), dealt(len(legal[some]))
        if first + len(order) > count:  # there are boards that only fill up the words
            ones, order = ones[:, order < count - first], order[order < count - first]
        chosen[first + order] = nth_set(ones, uniforms[first + order])
    return chosen


def nth_set(candidates: NDArray[np.uint8], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """candidates (A, N) zeros and ones, uniforms (N,) in [0, 1) -> (N,): the floor(u * k)-th of the k ones.

    The cells are counted in blocks of about sqrt(A) first, then those of the block in which the one wanted lies.
    """
    area, count = candidates.shape
    side = math.isqrt(area - 1) + 1
    blocks = np.zeros((side, side, count), dtype=np.min_scalar_type(area))
    blocks.reshape(-1, count)[:area] = candidates
    until = running_sums(blocks.sum(axis=1, dtype=blocks.dtype))  # (side, N) ones up to the end of each block
    wanted = (uniforms * until[-1]).astype(blocks.dtype)  # so many ones come before the one wanted
    block = (until <= wanted).sum(axis=0)
    every = np.arange(count)
    wanted -= np.where(block > 0, until[block - 1, every], 0)
    inside = running_sums(np.ascontiguousarray(blocks[block, :, every].T))
    chosen: NDArray[np.int64] = block * side + (inside <= wanted).sum(axis=0)
    return chosen


def whole_words(boards: Bools) -> Bools:
    """boards (N, ...) -> (N', A), filled up with empty ones to a multiple of 64."""
    flat = boards.reshape(len(boards), -1)
    missing = -len(flat) % WORD
    return np.concatenate([flat, np.zeros((missing, flat.shape[1]), dtype=np.bool_)]) if missing else flat
