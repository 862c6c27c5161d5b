"""What a player must see at a glance, asked in hundreds of positions: the share of right answers by kind.

    win_in_one       take a win that is there
    block_in_one     no win, one threat of a five: block it
    stop_three       nothing of one's own to force; the other side's open three must not become an open four
    own_four_first   both sides could make an open four: make one's own
    double_threat    nothing to win or to fear at once: a four and an open three, or two open threes, with one stone

The last three are asked where five or six in a row win, and of them only what is met: not all are on a board of 5x5.
An open four has two ways to five, and so have two fours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from env import Board
from env.lockstep import Lockstep
from env.observation import Positions, positions_of
from rl.agents.base import Agent
from rl.agents.shapes import mind
from rl.neighbourhood import LONGEST, Shape, over_lines, seen_by_other, shape_table
from rl.sampling import BoolArray, IntArray, RandomSource, draw_uniforms
from rl.selfplay import open_randomly
from rl.tactics import Puzzles, make_puzzles, winning_cells

OPENING_PLIES, MOST_PLIES, NOISE, GAMES_AT_ONCE, MOST_ROUNDS = 4, 24, 0.15, 512, 30
ASKED = 0.3  # only so many of the positions met are looked at: neighbours in a game are much alike
DEEPER = ("stop_three", "own_four_first", "double_threat")


@dataclass(frozen=True)
class TacticalSuite:
    """boards[kind] to be judged on, and right[kind] (n, A): the cells that are right answers there."""

    boards: Mapping[str, tuple[Board, ...]]
    right: Mapping[str, BoolArray]

    def score(self, agent: Agent, rng: RandomSource) -> dict[str, float]:
        """The share of right moves of each kind, in 0..1."""
        return {kind: self._share(agent, kind, rng) for kind in self.boards}

    def _share(self, agent: Agent, kind: str, rng: RandomSource) -> float:
        chosen = np.array(agent.choose_many(self.boards[kind], rng))
        return float(self.right[kind][np.arange(len(chosen)), chosen].mean())


def make_suite(new_games: Callable[[int], Lockstep], size: int, rng: RandomSource) -> TacticalSuite:
    """A suite of `size` positions of each kind; of the last three no more than were met, and no kind that was not."""
    one = new_games(1)

    def new_board() -> Board:
        return Board(one.height, one.width, one.win_length, one.rule)

    wins, blocks = (puzzles.boards(new_board) for puzzles in make_puzzles(new_games, size, rng))
    boards = {"win_in_one": wins, "block_in_one": blocks}
    right = {
        "win_in_one": winning_cells(positions_of(wins), of_mover=True),
        "block_in_one": winning_cells(positions_of(blocks), of_mover=False),
    }
    if 5 <= one.win_length <= LONGEST:
        for kind, puzzles in _deeper_puzzles(new_games, size, rng).items():
            boards[kind] = puzzles.boards(new_board)
            right[kind] = right_cells(positions_of(boards[kind]), [kind])[kind]
    return TacticalSuite(boards, right)


class Made(NamedTuple):
    """What one side would make with a stone at each legal cell of N positions: all (N, A) bool."""

    five: BoolArray
    open_four: BoolArray
    four: BoolArray
    four_three: BoolArray
    double_three: BoolArray


@cache
def _packed(win_length: int) -> NDArray[np.int32]:
    """A one in the field of the shape that a line makes, by code: four shapes of mine, then of theirs, 3 bits each."""
    mine = np.zeros(len(Shape), dtype=np.int32)
    for place, shape in enumerate((Shape.FIVE, Shape.OPEN_FOUR, Shape.FOUR, Shape.OPEN_THREE)):
        mine[shape] = 1 << 3 * place
    table = mine[shape_table(win_length)]
    both: NDArray[np.int32] = table + (seen_by_other(table) << 12)
    return both


def made(positions: Positions) -> tuple[Made, Made]:
    """What the side to move would make, and what the other would."""
    sums = over_lines(positions.planes, positions.win_length, _packed(positions.win_length), np.add).T
    sums = sums * positions.legal  # (N, A): in how many of its four lines a cell makes each shape
    sides = []
    for side in (0, 12):
        five, straight, four, three = ((sums >> side + 3 * place) & 7 for place in range(4))
        open_four = (straight > 0) | (four > 1)
        sides.append(Made(five > 0, open_four, open_four | (four > 0), (four > 0) & (three > 0), three > 1))
    return sides[0], sides[1]


def right_cells(positions: Positions, kinds: Iterable[str] = DEEPER) -> dict[str, BoolArray]:
    """The right answers (N, A) by kind, of the deeper kinds; none where the position is not of the kind."""
    mine, theirs = made(positions)
    danger: BoolArray = np.any(theirs.open_four, axis=1)
    quiet: BoolArray = ~np.any(mine.five | theirs.five, axis=1)
    slow = mine.double_three & ~theirs.four.any(axis=1, keepdims=True)
    double = np.where(mine.four_three.any(axis=1, keepdims=True), mine.four_three, slow)
    calm: BoolArray = quiet & ~danger & ~mine.open_four.any(axis=1)
    right = {
        "own_four_first": mine.open_four & (quiet & danger)[:, np.newaxis],
        "double_threat": double & calm[:, np.newaxis],
        "stop_three": np.zeros_like(positions.legal),
    }
    asked = quiet & danger & ~mine.four.any(axis=1)
    for at in np.flatnonzero(asked) if "stop_three" in kinds else ():  # try every answer
        cells = np.flatnonzero(positions.legal[at])
        planes = np.repeat(positions.planes[at : at + 1], len(cells), axis=0)
        legal = np.repeat(positions.legal[at : at + 1], len(cells), axis=0)
        planes[:, 0].reshape(len(cells), -1)[np.arange(len(cells)), cells] = 1
        legal[np.arange(len(cells)), cells] = False
        _, after = made(Positions(planes, legal, positions.win_length, positions.rule))
        right["stop_three"][at, cells] = ~after.open_four.any(axis=1)
    return {kind: right[kind] for kind in kinds}


def _deeper_puzzles(new_games: Callable[[int], Lockstep], size: int, rng: RandomSource) -> dict[str, Puzzles]:
    """`size` positions at most of each of DEEPER that was met, one a game and kind.

    They are met in games between a player that looks at both sides and one that sees only its own lines, the mover
    drawn for every move, so that threats are left standing.
    """
    players = [mind("balanced", NOISE), mind("lines", NOISE)]
    found: list[list[IntArray]] = [[] for _ in DEEPER]
    for _ in range(MOST_ROUNDS):
        games = new_games(GAMES_AT_ONCE)
        open_randomly(games, np.full(games.games, OPENING_PLIES), rng)
        history = np.full((games.games, MOST_PLIES), -1, dtype=np.int64)
        history[:, :OPENING_PLIES] = _in_order(games)
        fresh = np.ones((len(DEEPER), games.games), dtype=np.bool_)
        for ply in range(OPENING_PLIES, MOST_PLIES):
            which = np.flatnonzero(~games.over)
            if not len(which):
                break
            wanted = [kind for kind, so_far in enumerate(found) if len(so_far) < size]
            asked = which[(draw_uniforms(rng, len(which)) < ASKED) & fresh[wanted][:, which].any(axis=0)]
            if len(asked):
                right = right_cells(games.positions(asked), [DEEPER[kind] for kind in wanted])
                for kind in wanted:
                    fits = asked[right[DEEPER[kind]].any(axis=1) & fresh[kind, asked]]
                    found[kind].extend(history[fits])
                    fresh[kind, fits] = False
            mover = draw_uniforms(rng, len(which)) < 0.5
            positions = games.positions(which)
            cells = np.where(mover, *(player.choose_positions(positions, rng) for player in players))
            history[which, ply] = cells
            games.play(cells, which)
        if min(len(kind) for kind in found) >= size:
            break
    met = {kind: np.stack(those[:size]) for kind, those in zip(DEEPER, found, strict=True) if those}
    return {kind: Puzzles(moves, (moves >= 0).sum(axis=1)) for kind, moves in met.items()}


def _in_order(games: Lockstep) -> IntArray:
    """The opening stones of each game, black's and white's in turn: (E, OPENING_PLIES)."""
    stones = games.cells.reshape(games.games, -1)
    order = np.empty((games.games, OPENING_PLIES), dtype=np.int64)
    for first, colour in enumerate((1, -1)):
        order[:, first::2] = np.nonzero(stones == colour)[1].reshape(games.games, -1)
    return order
