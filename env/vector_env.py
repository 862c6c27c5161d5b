"""Many games of Gomoku as one Gymnasium vector environment, stepped together as arrays.

    gymnasium.make_vec("env:Gomoku-v0", num_envs=256, size=15, win_length=5, rule="freestyle")

It returns exactly what gymnasium's SyncVectorEnv over as many GomokuEnv would, without a Python loop over games
unless there is an opponent to ask.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from env.board import Board
from env.gomoku_env import Choice, Opponent, choice_of, draw_colour, new_board, one_of, reply, spaces
from env.lockstep import Lockstep
from env.rules import WHITE, Rule

Observations = NDArray[np.float32]
Infos = dict[str, Any]


class GomokuVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """`num_envs` games; the other arguments and all conventions are those of GomokuEnv.

    autoreset_mode  SAME_STEP (default): a finished game is reset within the step that ended it; the observation
                    returned is the new game's, and infos hold "final_obs" and "final_info" of the old one, with
                    "_final_obs" and "_final_info" marking those games.
                    DISABLED: finished games wait for reset(options={"reset_mask": (num_envs,) bool}).

    Observations (num_envs, 2, H, W) float32; rewards (num_envs,) float64; terminated, truncated (num_envs,) bool;
    infos["action_mask"] (num_envs, A) int8, "to_move", "winner", "illegal" (num_envs,), each with a "_"-mask.
    There is no render(): make_vec(..., vectorization_mode="sync") has pictures.
    """

    def __init__(
        self,
        num_envs: int = 1,
        size: int | None = 15,
        win_length: int = 5,
        rule: str | Rule = "freestyle",
        opponent: Opponent | Choice | None = None,
        *,
        height: int | None = None,
        width: int | None = None,
        colour: str = "random",
        illegal: str = "lose",
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
    ) -> None:
        board = new_board(size, height, width, win_length, rule)
        self.num_envs = num_envs
        self._mode = AutoresetMode(autoreset_mode)
        if self._mode is AutoresetMode.NEXT_STEP:
            raise ValueError("autoreset_mode NextStep: use SameStep (no step is lost) or Disabled")
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space, self.single_action_space = spaces(board)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._illegal_mode = one_of("illegal", illegal, ("lose", "raise"))
        self._games = Lockstep(num_envs, board.height, board.width, board.win_length, board.rule)
        self._illegal = np.zeros(num_envs, dtype=np.bool_)  # (E,) lost by an illegal move
        self._running = np.zeros(num_envs, dtype=np.bool_)  # (E,) may be stepped
        # An opponent is asked game by game: it wants a Board, and each game has a generator of its own.
        self._choice = choice_of(opponent, board)
        self._colour = one_of("colour", colour, ("black", "white", "random"))
        self._boards: list[Board] = []
        self._rngs: list[np.random.Generator] = []
        if self._choice is not None:
            self._boards = [board.copy() for _ in range(num_envs)]
            self._rngs = [seeding.np_random(None)[0] for _ in range(num_envs)]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin all games anew, or those that options["reset_mask"] (num_envs,) bool marks.

        A seed n gives game i the seed n + i; a list gives each its own. Only an opponent and my colour use them.
        """
        mask = np.ones(self.num_envs, dtype=np.bool_)
        if options is not None and "reset_mask" in options:
            mask = options["reset_mask"]
            if not (isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)):
                raise ValueError(f"options['reset_mask'] must be an array ({self.num_envs},) bool, got {mask!r}")
            if not mask.any():
                raise ValueError("options['reset_mask'] marks no game")
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for num_envs={self.num_envs}: give one seed or one for each game")
        which = np.flatnonzero(mask)
        if seeds is not None and self._choice is not None:
            for game, game_seed in enumerate(seeds):
                if mask[game] and game_seed is not None:
                    self._rngs[game] = seeding.np_random(game_seed)[0]
        self._begin(which)
        return self._observations(), _marked(self._info(), mask)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Play one cell in every game, and with an opponent also the replies.

        Raises ResetNeeded when a game is over and not reset, ValueError when there is not one action a game, TypeError
        for actions that are no whole numbers, and IllegalMoveError, with no move made in any game, when one is
        illegal and `illegal` is "raise".
        """
        if not self._running.all():
            waiting = np.flatnonzero(~self._running).tolist()
            raise ResetNeeded(f"no running game in {waiting}: reset them, by options['reset_mask'] or all together")
        games = self._games
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"actions of shape {actions.shape}: one for each of {self.num_envs} games")
        if actions.dtype.kind not in "iu":
            raise TypeError(f"actions of dtype {actions.dtype}: cells are whole numbers")
        inside = (actions >= 0) & (actions < games.legal.shape[1])
        legal = inside & games.legal[np.arange(self.num_envs), np.where(inside, actions, 0)]
        moving = np.flatnonzero(legal if self._illegal_mode == "lose" else np.ones_like(legal))
        games.play(actions[moving], moving)
        self._illegal = ~legal
        rewards = np.where(legal, np.abs(games.winner).astype(np.float64), -1.0)  # only the mover can have won
        if self._choice is not None:
            for game in moving:
                self._boards[game].play(int(actions[game]))
            answered = np.flatnonzero(legal & ~games.over)
            self._reply(answered)
            rewards[answered] -= np.abs(games.winner[answered])
        terminated = games.over | self._illegal
        self._running = ~terminated
        infos: Infos = {}
        if terminated.any() and self._mode is AutoresetMode.SAME_STEP:
            ended = np.flatnonzero(terminated)
            final_obs = np.full(self.num_envs, None, dtype=object)
            for game, observation in zip(ended, games.positions(ended).planes, strict=True):
                final_obs[game] = observation
            infos["final_obs"], infos["_final_obs"] = final_obs, terminated.copy()
            infos["final_info"], infos["_final_info"] = _marked(self._info(), terminated), terminated.copy()
            self._begin(ended)
        infos.update(_marked(self._info(), np.ones(self.num_envs, dtype=np.bool_)))
        return self._observations(), rewards, terminated, np.zeros(self.num_envs, dtype=np.bool_), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now, (num_envs, A) bool."""
        return self._games.legal & ~self._illegal[:, None]

    def _begin(self, which: NDArray[np.intp]) -> None:
        """Start these games; where I am white, let the opponent begin."""
        games = self._games
        games.reset(which)
        self._illegal[which] = False
        self._running[which] = True
        if self._choice is not None:
            for game in which:
                self._boards[game] = Board(games.height, games.width, games.win_length, games.rule)
            colours = [draw_colour(self._colour, self._rngs[game]) for game in which]
            self._reply(which[np.array(colours) == WHITE])

    def _reply(self, which: NDArray[np.intp]) -> None:
        """Let the opponent move in these games."""
        assert self._choice is not None
        for game in which:
            reply(self._choice, self._boards[game], self._rngs[game])
        cells = np.array([self._boards[game].moves[-1] for game in which], dtype=np.intp)
        self._games.play(cells, which)

    def _observations(self) -> Observations:
        return self._games.positions().planes

    def _info(self) -> Infos:
        """GomokuEnv's info of every game; `_marked` makes the arrays fresh."""
        to_move = self._games.to_move.astype(np.int64)
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "to_move": to_move,
            "winner": np.where(self._illegal, -to_move, self._games.winner),
            "illegal": self._illegal,
        }


def _marked(info: Infos, mask: NDArray[np.bool_]) -> Infos:
    """The infos of the games that `mask` (num_envs,) marks, zero elsewhere, each with its "_"-mask beside it."""
    marked: Infos = {}
    for key, values in info.items():
        row = (-1, *[1] * (values.ndim - 1))
        marked[key] = np.where(mask.reshape(row), values, values.dtype.type(0))
        marked[f"_{key}"] = mask.copy()
    return marked
