"""A referee for tests that shares nothing with the program: it reads every line of the board as a word.

Slow and plain on purpose. A position is a dict {(row, col): "X" or "O"}; X is black and moves first.
"""

import re

from env import BLACK, WHITE, Rule

LETTER = {BLACK: "X", WHITE: "O"}


def words(stones, height, width):
    """All rows, columns and diagonals as words of X, O and dots."""
    everywhere = [(row, col) for row in range(height) for col in range(width)]
    lines = {}
    for row, col in everywhere:
        for key in (("row", row), ("column", col), ("falling", row - col), ("rising", row + col)):
            lines.setdefault(key, []).append(stones.get((row, col), "."))
    return ["".join(line) for line in lines.values()]


def winner(stones, height, width, win_length, rule):
    """Who has a winning line on the board, BLACK, WHITE or None, by looking at all of it."""
    for word in words(stones, height, width):
        for run in re.findall("X+|O+", word):
            at_least = len(run) >= win_length
            exactly = len(run) == win_length
            wins = {
                Rule.FREESTYLE: at_least,
                Rule.STANDARD: exactly,
                Rule.RENJU: exactly if run[0] == "X" else at_least,
            }[rule]
            if wins:
                return BLACK if run[0] == "X" else WHITE
    return None


def as_stones(cells):
    """The dict of a (H, W) array of colours."""
    height, width = cells.shape
    return {
        (row, col): LETTER[int(cells[row, col])] for row in range(height) for col in range(width) if cells[row, col]
    }
