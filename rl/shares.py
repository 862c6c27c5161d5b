"""One batch of self-play games in shares, each with chance of its own, so that a fleet may play them anywhere.

What comes of them depends on the shares alone, not on who plays which, how many times, or in what order they come back.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache

import numpy as np

from env import Rule
from env.lockstep import Lockstep
from nn import BoardNet
from nn.workspace import Workspace
from rl.agents import PolicyAgent
from rl.agents.base import BatchAgent
from rl.fleet import Fleet, FleetError
from rl.league import batch_agent
from rl.parcel import Parcel, packed, unpacked
from rl.sampling import IntArray
from rl.selfplay import Decisions
from rl.watched_play import play_whole_games

SHARES_AHEAD = 1  # shares that wait in each process; they take a tenth of a second to some seconds


@dataclass(frozen=True)
class Cast:
    """Who plays and how: what all shares of an update have in common.

    The opponents a seat may name are the agents called `named`, which a worker makes for itself, and then `past`.
    """

    net: BoardNet
    named: tuple[str, ...]
    past: tuple[BoardNet, ...]
    past_temperature: float
    win_length: int
    rule: Rule
    opening_plies: int
    temperature: float
    symmetric: bool
    watched: bool


@dataclass(frozen=True)
class Share:
    """Some games of a batch: who sits where, (E, 2), the generator they draw from, and the seed it was made from."""

    seed: tuple[int, ...]
    rng: np.random.Generator
    seats: IntArray


@dataclass(frozen=True)
class Played:
    """The learner's decisions in one share, under the seed of that share."""

    seed: tuple[int, ...]
    decisions: Decisions

    def __reduce__(self) -> tuple[Callable[..., Played], tuple[tuple[int, ...], Parcel]]:
        """Go to another process in a twentieth of the bytes."""
        return _arrived, (self.seed, packed(self.decisions))


def _arrived(seed: tuple[int, ...], parcel: Parcel) -> Played:
    return Played(seed, unpacked(parcel))


class ShareError(FleetError):
    """A fleet that gives back other games than it was handed."""


def prepare(cast: Cast) -> Callable[[Share], Played]:
    """What a fleet of self-play does with a share: its games, from random openings to their end."""
    past = [PolicyAgent(net, cast.past_temperature, name="past") for net in cast.past]
    opponents = [*(_known_agent(name) for name in cast.named), *past]
    memory: list[list[Workspace]] = []

    def work(share: Share) -> Played:
        rng = copy.deepcopy(share.rng)  # a share may be played again
        games = Lockstep(len(share.seats), cast.net.height, cast.net.width, cast.win_length, cast.rule)
        decisions = play_whole_games(cast.net, share.seats, opponents, games, cast, rng, memory)
        return Played(share.seed, decisions)

    return work


def play_shares(fleet: Fleet[Cast, Share, Played], cast: Cast, first: int, shares: Sequence[Share]) -> Decisions:
    """Play all shares on a fleet and wait for the last; their decisions, share after share.

    The shares are numbered from `first` on, and no number may serve twice in a run. A result that nobody waits for (it
    came before, or is an earlier update's) is dropped; one worked out with another cast is, too, and its share is
    played again. Raises ShareError if a result comes back under another seed than its share's.
    """
    version = fleet.put(cast)
    waiting = {first + i: share for i, share in enumerate(shares)}
    for index, share in waiting.items():
        fleet.submit(index, share)
    played: dict[int, Decisions] = {}
    while waiting:
        done = fleet.take()
        if done.index not in waiting:
            continue
        share = waiting[done.index]
        if done.version != version:
            fleet.submit(done.index, share)
            continue
        if done.result.seed != share.seed:
            raise ShareError(f"share {done.index} has seed {share.seed}; a worker played it with {done.result.seed}")
        played[done.index] = done.result.decisions
        del waiting[done.index]
    return joined([played[index] for index in sorted(played)])


def joined(parts: Sequence[Decisions]) -> Decisions:
    """Decisions one after the other, the games of each part numbered on from those of the part before."""
    games_before = np.cumsum([0, *(len(part.lengths) for part in parts)])
    decisions_before = np.cumsum([0, *(len(part) for part in parts)])
    whole = {f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Decisions)}
    whole["games"] = np.concatenate([part.games + n for part, n in zip(parts, games_before, strict=False)])
    whole["following"] = np.concatenate(
        [np.where(part.following < 0, -1, part.following + n) for part, n in zip(parts, decisions_before, strict=False)]
    )
    return Decisions(**whole)


@cache
def _known_agent(spec: str) -> BatchAgent:
    """The agent of that name, made once in a process."""
    return batch_agent(spec)
