"""Gomoku for PettingZoo: two agents, black_0 and white_0, who step in turn, as in its classic games.

    pettingzoo.make("aec", "gomoku-v0", size=15, win_length=5, rule="freestyle")     after `import env.aec`

Needs the extra `zoo`. Observations are as in the classic games, channels last: (H, W, 3) int8, the agent's own
stones, the other's, and a plane of ones for black; Gymnasium's face and the network have channels first.
"""

from typing import Any, ClassVar

import gymnasium
import numpy as np
import pettingzoo
from numpy.typing import NDArray
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from env.board import Board
from env.gomoku_env import new_board, one_of, rendered
from env.rules import BLACK, WHITE, Rule

AGENTS = {"black_0": BLACK, "white_0": WHITE}


def env(**settings: Any) -> Any:
    """The game in the wrappers of the classic games: an illegal move loses, and calls out of order are errors."""
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(GomokuAEC(**settings), -1)))


class GomokuAEC(pettingzoo.AECEnv):  # type: ignore[misc]  # PettingZoo tells mypy no types
    """The bare game; its arguments are GomokuEnv's.

    infos[agent]["action_mask"] is (A,) int8, all zero for the agent that is not to move. The winner is rewarded +1
    and the loser -1. An illegal action raises IllegalMoveError here; `env` catches it before.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "gomoku_v0",
        "render_modes": ["human", "ansi", "rgb_array"],
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        size: int | None = 15,
        win_length: int = 5,
        rule: str | Rule = "freestyle",
        *,
        height: int | None = None,
        width: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._board = board = new_board(size, height, width, win_length, rule)
        modes = tuple(self.metadata["render_modes"])
        self.render_mode = None if render_mode is None else one_of("render_mode", render_mode, modes)
        self.possible_agents = list(AGENTS)
        seen = gymnasium.spaces.Box(0, 1, (board.height, board.width, 3), np.int8)
        self.observation_spaces = dict.fromkeys(AGENTS, seen)
        self.action_spaces = {agent: gymnasium.spaces.Discrete(board.height * board.width) for agent in AGENTS}

    def observation_space(self, agent: str) -> gymnasium.Space[NDArray[np.int8]]:
        """Box (H, W, 3) int8."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Discrete(A), a cell."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """An empty board, black to move. Nothing is random and there are no options."""
        board = self._board
        self._board = Board(board.height, board.width, board.win_length, board.rule)
        self.agents = list(AGENTS)
        self.agent_selection = "black_0"
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = self._masks()
        self._show()

    def step(self, action: int | None) -> None:
        """Play the cell for the agent that is to move; after the end, None takes it off the list of agents."""
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        assert action is not None
        self._board.play(action)
        self._cumulative_rewards[mover] = 0.0
        outcome = self._board.outcome
        if outcome is not None:
            self.rewards = {agent: float(outcome.winner * colour) for agent, colour in AGENTS.items()}
            self.terminations = dict.fromkeys(AGENTS, True)
        self.infos = self._masks()
        self.agent_selection = "white_0" if mover == "black_0" else "black_0"
        self._accumulate_rewards()
        self._show()

    def observe(self, agent: str) -> NDArray[np.int8]:
        """What this agent sees, whether or not it is to move: (H, W, 3) int8."""
        colour = AGENTS[agent]
        cells = self._board.cells
        ones = np.full(cells.shape, colour == BLACK)
        return np.stack([cells == colour, cells == -colour, ones], axis=-1).astype(np.int8)

    def render(self) -> Any:
        """As GomokuEnv: text for "ansi", pixels for "rgb_array", printed text and None for "human"."""
        return rendered(self._board, self.render_mode)

    def close(self) -> None:
        """Nothing is held open."""

    def _show(self) -> None:
        """In human mode every new position is printed by itself."""
        if self.render_mode == "human":
            self.render()

    def _masks(self) -> dict[str, dict[str, Any]]:
        """The info of both agents."""
        legal = self._board.legal_mask()
        return {
            agent: {"action_mask": (legal & (colour == self._board.to_move)).astype(np.int8)}
            for agent, colour in AGENTS.items()
        }


pettingzoo.register("aec", "gomoku-v0", entry_point="env.aec:env")
