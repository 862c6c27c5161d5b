"""Many games played at the same time, as arrays: one call makes one move in every running game.

Self-play and the vector environment run on it. It plays exactly as that many Boards would, several times faster.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from env.board import ForbiddenMoveError
from env.coords import cell_name
from env.lines import WALL, slot, steps, stride
from env.observation import Positions
from env.renju import forbidden_at, forbidden_mask
from env.rules import BLACK, EMPTY, IllegalMoveError, Rule, check_settings


class Lockstep:
    """E games of the same settings.

    cells    (E, H, W) int8, EMPTY, BLACK or WHITE, a window that follows the games (as all arrays here)
    to_move  (E,) int8, BLACK or WHITE; changes after every move, after the last one too
    plies    (E,) int64, moves played
    winner   (E,) int8, BLACK or WHITE once the game is won, else 0
    over     (E,) bool, won or drawn
    legal    (E, A) bool, as Board.legal_mask
    """

    def __init__(
        self, games: int, height: int = 15, width: int = 15, win_length: int = 5, rule: Rule = Rule.FREESTYLE
    ) -> None:
        check_settings(height, width, win_length, rule)
        if games < 1:
            raise ValueError(f"games {games}: at least one game")
        self.games, self.height, self.width, self.win_length, self.rule = games, height, width, win_length, rule
        self._area = area = height * width
        # An overline is seen only when one cell more than a five is looked at.
        reach = win_length if rule is not Rule.FREESTYLE else win_length - 1
        across = stride(width)
        # The walled layout of env/lines.py, game after game: the walls below one game are those above the next.
        # Some walls more at both ends keep a look `reach` slots beyond the last board within the buffer.
        self._block = (height + 1) * across
        self._margin = reach * (across + 1)
        self._slots = np.full(2 * self._margin + games * self._block + across + 1, WALL, dtype=np.int8)
        boards = self._slots[self._margin : self._margin + games * self._block]
        self.cells = boards.reshape(games, height + 1, across)[:, 1:, 1:]  # (E, H, W)
        distance = np.arange(1, reach + 1)
        eight = np.array([sign * step for step in steps(width) for sign in (1, -1)])
        self._looks = (distance[:, None] * eight)[:, :, None]  # (reach, 8, 1): slots round a stone
        # Black's stones, white's, black's again: planes 0-1 are what black sees, planes 1-2 what white sees.
        self._planes = np.zeros((games * 3, area), dtype=np.float32)
        self.legal = np.ones((games, area), dtype=np.bool_)
        self.to_move = np.full(games, BLACK, dtype=np.int8)
        self.plies = np.zeros(games, dtype=np.int64)
        self.winner = np.zeros(games, dtype=np.int8)
        self.over = np.zeros(games, dtype=np.bool_)
        self._stamp = np.zeros(games, dtype=np.int64)
        self.reset()

    def reset(self, which: NDArray[np.integer] | None = None) -> None:
        """Begin these games anew; all of them without `which`."""
        games = self._games(which)
        self.cells[games] = EMPTY
        self._planes.reshape(self.games, -1)[games] = 0
        self.legal[games] = True
        self.to_move[games] = BLACK
        self.plies[games] = 0
        self.winner[games] = 0
        self.over[games] = False

    def play(self, actions: NDArray[np.integer], which: NDArray[np.integer] | None = None) -> None:
        """Make one move in each of these games: actions (n,) are the cells, which (n,) the games (all by default).

        Raises IllegalMoveError, and moves in no game, when a move is illegal in its game.
        """
        games = self._games(which)
        cells = np.asarray(actions).astype(np.intp, casting="same_kind")  # (n,)
        self._refuse(cells, games)
        colours = self.to_move[games]  # (n,)
        here = slot(cells, self.width) + games * self._block + self._margin  # (n,)
        self._slots[here] = colours
        first = games * 3 * self._area + cells  # black's first plane
        white = colours != BLACK
        flat = self._planes.reshape(-1)
        flat[first + white * self._area] = 1
        flat[(first + white * self._area)[~white] + 2 * self._area] = 1
        self.legal.reshape(-1)[games * self._area + cells] = False
        self.to_move[games] = -colours
        self.plies[games] += 1
        won = self._completes_a_line(here, colours)
        self.winner[games] = won * colours
        ended = won | (self.plies[games] == self._area)
        if self.rule is Rule.RENJU:
            self._forbid(games[~ended])
            ended |= ~self.legal[games].any(axis=1)
        self.over[games] = ended
        if ended.any():
            self.legal[games[ended]] = False

    def positions(self, which: NDArray[np.integer] | None = None) -> Positions:
        """What the side to move sees in these games: fresh arrays, games in the order of `which`."""
        games = self._games(which)
        first = games * 3 + (self.to_move[games] != BLACK)  # (n,) row of the own stones
        seen = self._planes.take(np.stack([first, first + 1], axis=1), axis=0)  # (n, 2, A)
        return Positions(
            seen.reshape(len(games), 2, self.height, self.width),
            self.legal.take(games, axis=0),
            self.win_length,
            self.rule,
        )

    def take(self, which: NDArray[np.integer]) -> "Lockstep":
        """A lockstep of its own that goes on from these games, in their order; one may be named more than once."""
        taken = Lockstep(len(which), self.height, self.width, self.win_length, self.rule)
        taken.cells[...] = self.cells[which]
        for mine, its in zip(self._kept(), taken._kept(), strict=True):
            its[...] = mine[which]
        return taken

    def _kept(self) -> tuple[NDArray[Any], ...]:
        """The arrays with one row a game, all but `cells`."""
        planes = self._planes.reshape(self.games, -1)
        return planes, self.legal, self.to_move, self.plies, self.winner, self.over

    def _completes_a_line(self, here: NDArray[np.intp], colours: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Whether the stones just put on the slots `here` (n,) complete a winning line: (n,) bool."""
        same = self._slots.take(self._looks + here) == colours  # (reach, 8, n)
        runs = np.zeros(same.shape[1:], dtype=np.int8)  # (8, n) stones joined to it in each of eight directions
        joined = np.ones(same.shape[1:], dtype=np.bool_)
        for stones in same:
            joined &= stones
            runs += joined
        lines = 1 + runs[0::2] + runs[1::2]  # (4, n)
        wins = lines == self.win_length
        if self.rule is Rule.FREESTYLE:
            wins = lines >= self.win_length
        elif self.rule is Rule.RENJU:
            wins |= (lines > self.win_length) & (colours != BLACK)
        won: NDArray[np.bool_] = wins.any(axis=0)
        return won

    def _forbid(self, games: NDArray[np.intp]) -> None:
        """Mark what is legal in these renju games: the empty cells, for black without the forbidden points."""
        cells = self.cells[games]  # (n, H, W)
        legal = cells == EMPTY
        black = self.to_move[games] == BLACK
        legal[black] &= ~forbidden_mask(cells[black])
        self.legal[games] = legal.reshape(-1, self._area)

    def _games(self, which: NDArray[np.integer] | None) -> NDArray[np.intp]:
        """The games meant, as indices (n,); a bool array (E,) marks them."""
        if which is None:
            return np.arange(self.games)
        which = np.asarray(which)
        if which.dtype == np.bool_:
            return np.flatnonzero(which)
        return which.astype(np.intp, copy=False)

    def _refuse(self, actions: NDArray[np.intp], games: NDArray[np.intp]) -> None:
        """Raise unless there is exactly one legal action for each of these games, none of them named twice."""
        if actions.shape != games.shape:
            raise ValueError(f"actions {actions.shape} for games {games.shape}: one action a game")
        self._stamp[games] = np.arange(len(games))
        if (self._stamp[games] != np.arange(len(games))).any():
            raise ValueError("a game is named twice in `which`: one move a game in a call")
        outside = (actions < 0) | (actions >= self._area)
        illegal = outside | ~self.legal[games, np.where(outside, 0, actions)]
        if illegal.any():
            at = int(illegal.argmax())
            raise self._refusal(int(games[at]), int(actions[at]))

    def _refusal(self, game: int, cell: int) -> IllegalMoveError:
        """Why this cell may not be played in this game."""
        if not 0 <= cell < self._area:
            size = f"{self.height}x{self.width}"
            return IllegalMoveError(f"game {game}: cell {cell} is off the {size} board: use 0 to {self._area - 1}")
        point = f"game {game}: {cell_name(cell, self.height, self.width)} (cell {cell})"
        if self.over[game]:
            return IllegalMoveError(f"{point}: the game is over; reset it first")
        if self.cells[game].flat[cell]:
            return IllegalMoveError(f"{point} is occupied: play a cell that `legal` marks")
        return ForbiddenMoveError(point, forbidden_at(self.cells[game], cell))
