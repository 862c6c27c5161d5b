"""Gomoku as a Gymnasium environment, for one player who plays both colours or for one against an opponent.

    gymnasium.make("env:Gomoku-v0", size=15, win_length=5, rule="freestyle", opponent=None)

The observation and info["action_mask"] belong to the side to move next; the reward to the side that just moved, or
always to the learner when there is an opponent.
"""

from collections.abc import Callable
from operator import index
from typing import Any, Protocol, runtime_checkable

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from env.board import Board
from env.observation import planes
from env.render import board_pixels, board_text
from env.rules import BLACK, WHITE, IllegalMoveError, Rule


@runtime_checkable
class Opponent(Protocol):
    """Whoever can choose a move; every agent of rl.agents is one."""

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        """A legal cell for the side to move."""
        ...


Choice = Callable[[Board, np.random.Generator], int]


class GomokuEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """One game at a time.

    size         rows and columns, unless height or width say otherwise
    win_length   stones in a row that win
    rule         "freestyle", "standard", "renju", or a Rule
    opponent     an agent with .choose(board, rng), or a callable (board, rng) -> cell. One step is then my move and
                 the reply, and the reply can win.
    colour       mine when there is an opponent: "black", "white", or "random", drawn at every reset
    illegal      "lose": an illegal move ends the game with reward -1; "raise": it raises IllegalMoveError
    render_mode  None, "ansi" (render() returns text), "rgb_array" (returns pixels), "human" (prints the text)

    Observation: (2, H, W) float32, the stones of the side to move next, then the other's. Action: a cell 0..A-1.
    Info: action_mask (A,) int8, 1 where that side may play; to_move, +1 black or -1 white; winner, +1, -1, or 0
    for a draw and while the game goes on; illegal, whether an illegal move ended the game.
    Reward: +1 for a win of the side that just moved, -1 for its illegal move, otherwise 0; with an opponent also
    -1 when the reply wins. Won, drawn and illegal games are terminated, never truncated.
    """

    metadata = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 2}  # noqa: RUF012  Gymnasium's own way

    def __init__(
        self,
        size: int | None = 15,
        win_length: int = 5,
        rule: str | Rule = "freestyle",
        opponent: Opponent | Choice | None = None,
        *,
        height: int | None = None,
        width: int | None = None,
        colour: str = "random",
        illegal: str = "lose",
        render_mode: str | None = None,
    ) -> None:
        self._board = new_board(size, height, width, win_length, rule)
        self._choice = choice_of(opponent, self._board)
        self._colour = one_of("colour", colour, ("black", "white", "random"))
        self._illegal = one_of("illegal", illegal, ("lose", "raise"))
        self.render_mode = (
            None if render_mode is None else one_of("render_mode", render_mode, tuple(self.metadata["render_modes"]))
        )
        self.observation_space, self.action_space = spaces(self._board)
        self._running = False
        self._lost_by_illegal_move = False

    @property
    def board(self) -> Board:
        """A copy of the position, to look at or to think ahead on."""
        return self._board.copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """An empty board, or one with the opponent's first stone when I am white. No options."""
        super().reset(seed=seed)
        board = self._board
        self._board = Board(board.height, board.width, board.win_length, board.rule)
        self._running = True
        self._lost_by_illegal_move = False
        if self._choice is not None and draw_colour(self._colour, self.np_random) == WHITE:
            reply(self._choice, self._board, self.np_random)
        self._show()
        return planes(self._board), self._info()

    def step(self, action: np.int64 | int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play one cell, and with an opponent also the reply.

        Raises gymnasium's ResetNeeded before the first reset and after the end of a game, and IllegalMoveError for
        an illegal move when `illegal` is "raise"; the game then goes on from where it was. TypeError, and no move
        is made, for an action that is no whole number.
        """
        if not self._running:
            raise ResetNeeded("there is no running game: call reset() before step()")
        mover = self._board.to_move
        reward = 0.0
        try:
            self._board.play(index(action))
        except IllegalMoveError:
            if self._illegal == "raise":
                raise
            self._lost_by_illegal_move = True
            reward = -1.0
        if self._choice is not None and not self._lost_by_illegal_move and not self._board.is_over:
            reply(self._choice, self._board, self.np_random)
        if self._board.outcome is not None:
            reward = float(self._board.outcome.winner * mover)
        terminated = self._lost_by_illegal_move or self._board.is_over
        self._running = not terminated
        self._show()
        return planes(self._board), reward, terminated, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now, (A,) bool, under the name that sb3-contrib's MaskablePPO looks for."""
        if self._lost_by_illegal_move:
            return np.zeros(len(self._board.legal_mask()), dtype=np.bool_)
        return self._board.legal_mask()

    def render(self) -> Any:
        """The board as text ("ansi"), as pixels (H, W, 3) uint8 ("rgb_array"), or printed, returning None."""
        return rendered(self._board, self.render_mode)

    def _show(self) -> None:
        """In human mode every new position is printed by itself."""
        if self.render_mode == "human":
            self.render()

    def _info(self) -> dict[str, Any]:
        outcome, to_move = self._board.outcome, self._board.to_move
        winner = outcome.winner if outcome is not None else 0
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "to_move": to_move,
            "winner": -to_move if self._lost_by_illegal_move else winner,
            "illegal": self._lost_by_illegal_move,
        }


def new_board(size: int | None, height: int | None, width: int | None, win_length: int, rule: str | Rule) -> Board:
    """The empty board that the arguments of an environment ask for; `size` stands in for a missing height or width.

    Raises ValueError naming the argument that makes no game.
    """
    height, width = height if height is not None else size, width if width is not None else size
    if height is None or width is None:
        raise ValueError("size None: then both height and width are needed")
    if not isinstance(rule, Rule):
        rule = Rule(one_of("rule", rule, tuple(known.value for known in Rule)))
    return Board(height, width, win_length, rule)


def spaces(board: Board) -> tuple[gymnasium.Space[NDArray[np.float32]], gymnasium.spaces.Discrete]:
    """The observation space Box (2, H, W) float32 in 0..1 and the action space Discrete(A)."""
    shape = (2, board.height, board.width)
    seen: gymnasium.Space[Any] = gymnasium.spaces.Box(0.0, 1.0, shape, np.float32)
    return seen, gymnasium.spaces.Discrete(board.height * board.width)


def rendered(board: Board, mode: str | None) -> Any:
    """The board as a render mode has it: text for "ansi", pixels for "rgb_array"; "human" prints, and has None."""
    if mode == "ansi":
        return board_text(board)
    if mode == "rgb_array":
        return board_pixels(board)
    if mode == "human":
        print(board_text(board), flush=True)
    else:
        gymnasium.logger.warn('render() shows nothing without render_mode="ansi", "rgb_array" or "human"')
    return None


def choice_of(opponent: Opponent | Choice | None, board: Board) -> Choice | None:
    """The opponent as a callable (board, rng) -> cell.

    Raises TypeError when it is neither an agent nor a callable, ValueError when one stone wins on this board: an
    opponent with the first move would then win before the learner has played.
    """
    if opponent is None:
        return None
    if board.win_length == 1:
        raise ValueError("win_length 1 with an opponent: whoever moves first has won; use 2 or more")
    if isinstance(opponent, Opponent):
        return opponent.choose
    if callable(opponent):
        return opponent
    hint = f"; for the agent of that name pass rl.agents.make_agent({opponent!r})" if isinstance(opponent, str) else ""
    raise TypeError(f"opponent {opponent!r}: pass an agent with .choose(board, rng) or a callable{hint}")


def reply(choice: Choice, board: Board, rng: np.random.Generator) -> None:
    """Let the opponent make one move. It sees a copy, so that its thinking cannot disturb the game.

    Raises IllegalMoveError when it chooses an illegal cell: the opponent is broken, and nobody has won.
    """
    cell = choice(board.copy(), rng)
    try:
        board.play(cell)
    except IllegalMoveError as error:
        raise IllegalMoveError(f"the opponent made an illegal move: {error}") from error


def draw_colour(colour: str, rng: np.random.Generator) -> int:
    """The learner's colour in the next game; only "random" draws."""
    if colour == "random":
        return BLACK if rng.integers(2) == 0 else WHITE
    return BLACK if colour == "black" else WHITE


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """The value, if it is one of those allowed.

    Raises ValueError naming the argument, the value and what is allowed.
    """
    if value not in allowed:
        raise ValueError(f"{name} {value!r}: use {', '.join(allowed)}")
    return value


gymnasium.register(
    "Gomoku-v0",
    entry_point="env.gomoku_env:GomokuEnv",
    vector_entry_point="env.vector_env:GomokuVectorEnv",
)
