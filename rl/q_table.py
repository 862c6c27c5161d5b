"""Q-learning with a table: what a move has proved to be worth in a position, learnt from one move after the other.

Nothing generalises from one position to another, except that a turned or mirrored board is the same board.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env import Board, Rule
from env.bitboard import Bitboard
from env.rules import check_settings
from env.symmetry import SYMMETRIES, permutation
from nn.weights import check_array, check_names

KIND = "QTable"


class TableError(ValueError):
    """A table that is for another game, or whose numbers make no table."""


@dataclass(frozen=True)
class Rewards:
    """What a move earns at once, besides what it leads to. A four: one more stone wins."""

    win: float = 50.0
    make_four: float = 20.0
    block_four: float = 10.0
    let_four_through: float = -20.0

    def of(self, before: Board, cell: int, after: Board) -> float:
        """The reward of the side that played `cell`."""
        if after.outcome is not None:
            return self.win if after.outcome.winner else 0.0
        mover, old, new = before.to_move, Bitboard.from_board(before), Bitboard.from_board(after)
        reward = self.make_four if new.winning(mover) & ~old.winning(mover) else 0.0
        if old.winning(-mover) & old.bit(cell):
            reward += self.block_four
        if new.winning(-mover):
            reward += self.let_four_through
        return reward


class QTable:
    """Q(position, move) of the side to move, learnt by

        target = reward - discount * (largest Q of the position after the move, which is the other side's)
        Q += learning_rate * (target - Q)

    with the last term left out once the game is over; what was never played counts 0. The minus sign is what makes it
    a game for two: what is best for the other side is worst for the one that moved.

    Positions are seen by the side to move and turned so that of the eight views the least in order of bytes is taken.
    Source: Watkins and Dayan, "Q-learning" (1992), with the next value negated as in Littman, "Markov games" (1994).
    """

    def __init__(
        self, board: Board, *, learning_rate: float = 0.1, discount: float = 0.9, rewards: Rewards | None = None
    ) -> None:
        if not 0 < learning_rate <= 1 or not 0 <= discount <= 1:
            raise TableError(f"learning rate {learning_rate} and discount {discount}: use 0 to 1, the rate above 0")
        self.height, self.width, self.win_length, self.rule = board.height, board.width, board.win_length, board.rule
        self.learning_rate, self.discount, self.rewards = learning_rate, discount, rewards or Rewards()
        self.known: dict[bytes, dict[int, float]] = {}
        views = [k for k in SYMMETRIES if self.height == self.width or k % 2 == 0]
        self._from = np.stack([permutation(k, self.height, self.width) for k in views])  # (K, A)
        self._to = np.argsort(self._from, axis=1)  # where a cell lies in each view

    def values(self, board: Board) -> NDArray[np.float64]:
        """Q of every cell (A,), 0 where nothing was learnt. Raises TableError for a board of another kind."""
        key, places = self._place(board)
        known = self.known.get(key, {})
        return np.array([known.get(place, 0.0) for place in places.tolist()])

    def learn(self, board: Board) -> float:
        """Learn from the last move on the board; returns by how much Q of that move changed.

        Raises IllegalMoveError if there is no move to learn from, TableError for a board of another kind.
        """
        before = board.copy()
        cell = before.undo()
        target = self.rewards.of(before, cell, board)
        if board.outcome is None:
            target -= self.discount * float(self.values(board)[board.legal_mask()].max())
        key, places = self._place(before)
        known = self.known.setdefault(key, {})
        old = known.get(int(places[cell]), 0.0)
        change = self.learning_rate * (target - old)
        known[int(places[cell])] = old + change
        return change

    def _place(self, board: Board) -> tuple[bytes, NDArray[np.int64]]:
        """(the key of the position, where each cell (A,) lies in the view the key was taken from).

        Where several views are equal, cells that they exchange share the least of their places: they are one move.
        """
        mine = (self.height, self.width, self.win_length, self.rule)
        if (board.height, board.width, board.win_length, board.rule) != mine:
            game = f"{self.height}x{self.width}, {self.win_length} in a row, {self.rule.value}"
            raise TableError(f"the table is for {game}; got {board!r}")
        seen = board.cells.ravel() * np.int8(board.to_move)
        views = [view.tobytes() for view in seen[self._from]]
        key = min(views)
        places: NDArray[np.int64] = self._to[[view == key for view in views]].min(axis=0)
        return key, places

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything learnt, for a file: positions (P, A) int8, and for each move known its position, place and Q."""
        keys = b"".join(self.known)
        moves = [(i, place, q) for i, known in enumerate(self.known.values()) for place, q in known.items()]
        which, places, values = zip(*moves, strict=True) if moves else ((), (), ())
        return {
            "positions": np.frombuffer(keys, np.int8).reshape(-1, self.height * self.width),
            "which": np.array(which, np.int64),
            "places": np.array(places, np.int64),
            "values": np.array(values, np.float64),
        }

    def meta(self) -> dict[str, Any]:
        """The game and the settings, for a file."""
        game = {"height": self.height, "width": self.width, "win_length": self.win_length, "rule": self.rule.value}
        settings = {"learning_rate": self.learning_rate, "discount": self.discount, "rewards": asdict(self.rewards)}
        return {"table": KIND, **game, **settings}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], path: object) -> QTable:
        """The table of `arrays()` and `meta()`. Raises WeightsError or TableError, naming `path`."""
        try:
            if meta["table"] != KIND:
                raise KeyError("table")
            height, width, win_length = (int(meta[key]) for key in ("height", "width", "win_length"))
            rule = Rule(meta["rule"])
            check_settings(height, width, win_length, rule)
            settings = {key: float(meta[key]) for key in ("learning_rate", "discount")}
            rewards = Rewards(**{key: float(value) for key, value in meta["rewards"].items()})
            table = cls(Board(height, width, win_length, rule), rewards=rewards, **settings)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise TableError(f"{path}: holds no table of Q-values: {type(error).__name__}: {error}") from None
        check_names(path, arrays, ["positions", "which", "places", "values"])
        count, moves = (len(np.atleast_1d(arrays[name])) for name in ("positions", "values"))
        area = height * width
        check_array(path, "positions", arrays["positions"], (count, area), np.dtype(np.int8))
        check_array(path, "values", arrays["values"], (moves,), np.dtype(np.float64))
        for name, end in (("which", count), ("places", area)):
            check_array(path, name, arrays[name], (moves,), np.dtype(np.int64))
            if moves and not (arrays[name].min() >= 0 and arrays[name].max() < end):
                raise TableError(f"{path}: {name} must be numbers from 0 to {end - 1}")
        if count and not (np.abs(arrays["positions"]) <= 1).all():
            raise TableError(f"{path}: a cell of a position must be -1, 0 or 1")
        keys = [position.tobytes() for position in arrays["positions"]]
        if len(set(keys)) < count:
            raise TableError(f"{path}: a position stands in it twice")
        table.known = {key: {} for key in keys}
        for i, place, value in zip(*(arrays[name].tolist() for name in ("which", "places", "values")), strict=True):
            table.known[keys[i]][place] = value
        return table
