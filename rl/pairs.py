"""Colour-swapped pairs of games as work for a fleet: who plays, from where, with which chance.

A batch holds all that its games depend on, so it can be played anywhere, at any time and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from env import Board, Rule
from env.record import GameRecord
from rl.agents import make_agent
from rl.agents.base import Agent, BatchAgent
from rl.fleet import Fleet
from rl.match import play_games

PAIRS_AT_ONCE = 16  # that agents which decide in batches play side by side

Games = tuple[GameRecord, ...]


@dataclass(frozen=True)
class Setting:
    """The game that is played, and how a name becomes an agent."""

    height: int
    width: int
    win_length: int
    rule: Rule
    make: Callable[[str], Agent] = make_agent

    def board(self, moves: Iterable[int] = ()) -> Board:
        """The board after these moves."""
        return Board.from_moves(moves, self.height, self.width, self.win_length, self.rule)


@dataclass(frozen=True)
class PairBatch:
    """Some pairs of one match: two agents by name, one opening a pair, and the generator all moves draw from."""

    players: tuple[str, str]
    openings: tuple[tuple[int, ...], ...]
    rng: np.random.Generator


def pairs_at_once(agents: Sequence[Agent]) -> int:
    """How many pairs make a batch. It depends on nothing but the agents, for the results depend on it.

    Who decides in batches is faster with many games side by side; of games that take long, few are to be lost.
    """
    return PAIRS_AT_ONCE if all(isinstance(agent, BatchAgent) for agent in agents) else 1


@contextmanager
def present(names: Sequence[str], make: Callable[[str], Agent] = make_agent) -> Iterator[list[Agent]]:
    """The agents of these names; at the end, those who hold something (a process, a file) let go of it."""
    agents: list[Agent] = []
    try:
        for name in names:
            agents.append(make(name))
        yield agents
    finally:
        for agent in agents:
            getattr(agent, "close", lambda: None)()


def prepare(setting: Setting) -> Callable[[PairBatch], Games]:
    """What a fleet of the arena does with a batch: `play_pairs`."""
    return lambda batch: play_pairs(setting, batch)


def play_pairs(setting: Setting, batch: PairBatch) -> Games:
    """The games of a batch, each pair side by side, the first player with black first.

    The agents are made anew, so that nothing they remember goes from batch to batch. A fault of an agent forfeits its
    game (see `play_games`). The records call the players by the names they are made from.
    """
    with present(batch.players, setting.make) as (first, second):
        boards = [setting.board(opening) for opening in batch.openings for _ in range(2)]
        seats = [(first, second), (second, first)] * len(batch.openings)
        if pairs_at_once((first, second)) > 1:
            records = play_games(seats, boards, batch.rng, forfeits=True)
        else:  # who follows a game finds it easier one at a time
            records = [
                play_games([seat], [board], batch.rng, forfeits=True)[0]
                for seat, board in zip(seats, boards, strict=True)
            ]
    names = [batch.players, batch.players[::-1]] * len(batch.openings)
    return tuple(
        replace(record, black=black, white=white) for record, (black, white) in zip(records, names, strict=True)
    )


def play_batches(
    fleet: Fleet[Setting, PairBatch, Games], batches: Iterable[tuple[int, PairBatch]], ahead: int
) -> Iterator[tuple[int, Games]]:
    """Play numbered batches on a fleet, `ahead` of them handed out at a time; yields each as it is finished."""
    left = iter(batches)
    waiting = 0
    for index, batch in islice(left, ahead):
        fleet.submit(index, batch)
        waiting += 1
    while waiting:
        done = fleet.take()
        waiting -= 1
        for index, batch in islice(left, 1):
            fleet.submit(index, batch)
            waiting += 1
        yield done.index, done.result
