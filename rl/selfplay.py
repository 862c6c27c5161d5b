"""Self-play: hundreds of games in lockstep, and the learner's every decision in them written down.

A seat is taken by the learner itself, by a frozen past self, or by a heuristic; only the learner's decisions are kept,
with what the update needs: what it saw, what was legal, what it chose, and where its next decision stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from env.lockstep import Lockstep
from nn import BoardNet
from nn.losses import masked_log_softmax
from rl.agents.base import BatchAgent
from rl.middle import middle_cells
from rl.sampling import BoolArray, IntArray, RandomSource, draw_uniforms, inverse_cdf
from rl.views import Views

LEARNER = -1


@dataclass(frozen=True)
class Decisions:
    """T decisions of the learner in E finished games, in the order they were made.

    planes (T, 2, H, W) and legal (T, A) are what the network saw, symmetry included; actions (T,) index into that view;
    log_p (T,) is the log-probability with which each was drawn.
    games (T,) is the game of each decision, colours (T,) the colour that moved, following (T,) the index of the same
    colour's next decision in that game or -1 at its last, moves_left (T,) how many of those are still to come.
    winners (T,) is the game's winner, +1 / -1 / 0. seats (E, 2), lengths (E,) and game_winners (E,) tell of the games.
    """

    planes: NDArray[np.float32]
    legal: BoolArray
    actions: IntArray
    log_p: NDArray[Any]
    games: IntArray
    colours: NDArray[np.int8]
    following: IntArray
    moves_left: IntArray
    winners: NDArray[np.int8]
    seats: IntArray
    lengths: IntArray
    game_winners: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.actions)


class Step(NamedTuple):
    """The learner's decisions of one ply, in n games: fields as in Decisions."""

    planes: NDArray[np.float32]
    legal: BoolArray
    actions: IntArray
    log_p: NDArray[Any]
    games: IntArray
    colours: NDArray[np.int8]


class NoDecisionError(ValueError):
    """Games in which the learner had nothing to decide teach nothing."""


def open_randomly(games: Lockstep, plies: IntArray, rng: RandomSource) -> None:
    """Put plies[e] uniformly random legal stones on the middle of game e of a fresh lockstep, one draw a stone.

    A game whose middle is full is left as it is.
    """
    middle = middle_cells(games.height, games.width)
    for ply in range(int(plies.max(initial=0))):
        which = np.flatnonzero((plies > ply) & ~games.over)
        legal = games.legal[which] & middle
        which, legal = which[legal.any(axis=1)], legal[legal.any(axis=1)]
        games.play(inverse_cdf(legal, draw_uniforms(rng, len(which))), which)


def play(
    net: BoardNet,
    seats: IntArray,
    opponents: Sequence[BatchAgent],
    games: Lockstep,
    *,
    temperature: float,
    symmetric: bool,
    rng: RandomSource,
) -> Decisions:
    """Play all games to their end and return the learner's decisions.

    seats (E, 2): who has black and white in each game, LEARNER or an index into `opponents`. `games` may already hold
    opening stones; games that are over are passed over. The learner samples at `temperature`, through a random view
    if `symmetric`; each ply it and each opponent are asked once for all their games.
    """
    views = Views(games.height, games.width)
    steps: list[Step] = []
    running = np.flatnonzero(~games.over)
    while len(running):
        to_move = seats[running, (games.to_move[running] < 0).astype(np.int64)]
        for player in np.unique(to_move):
            which = running[to_move == player]
            positions = games.positions(which)
            if player == LEARNER:
                view = views.draw(len(which), symmetric, rng)
                planes, legal = views.see(positions, view)
                logits = net.logits(planes.astype(net.dtype, copy=False))
                log_p = masked_log_softmax(logits / temperature, legal)
                chosen = inverse_cdf(np.exp(log_p), draw_uniforms(rng, len(which)))
                cells = views.cells(chosen, view)
                drawn_with = log_p[np.arange(len(which)), chosen]
                steps.append(Step(planes, legal, chosen, drawn_with, which, games.to_move[which].copy()))
            else:
                cells = opponents[player].choose_positions(positions, rng)
            games.play(cells, which)
        running = running[~games.over[running]]
    return gather(steps, seats, games)


def gather(steps: Sequence[Step], seats: IntArray, games: Lockstep) -> Decisions:
    """The plies' decisions one after the other, with each one's successor found from the back."""
    if not steps:
        raise NoDecisionError(
            f"the learner made no decision in {games.games} games: it has no seat, or their openings ended them all; "
            "ask for fewer opening plies or more games at once"
        )
    all_steps = Step(*(np.concatenate(part) for part in zip(*steps, strict=True)))
    end = len(all_steps.actions)
    following = np.full(end, -1, dtype=np.int64)
    moves_left = np.zeros(end, dtype=np.int64)
    latest = np.full((games.games, 2), -1, dtype=np.int64)  # the decision met last, per game and colour
    for step in reversed(steps):
        index = np.arange(end - len(step.actions), end)
        seat = (step.games, (step.colours < 0).astype(np.int64))
        after = latest[seat]
        following[index] = after
        moves_left[index] = np.where(after >= 0, moves_left[after] + 1, 0)
        latest[seat] = index
        end -= len(index)
    return Decisions(
        **all_steps._asdict(),
        following=following,
        moves_left=moves_left,
        winners=games.winner[all_steps.games],
        seats=seats,
        lengths=games.plies.astype(np.int64),
        game_winners=games.winner.copy(),
    )
