"""What new rules are tried on: how fast the player thinks by them, and whether it wins more than by the old ones.
Both are the alpha-beta player; the rules are read once, so that an edit meanwhile changes nothing.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from env import Board, Rule
from experiments.strength import pairing
from rl.agents import Agent
from rl.agents.alphabeta import AlphaBetaAgent, Settings
from rl.arena import ArenaResult, Tally, random_opening, result_of, wilson_interval
from rl.pairs import Games, Setting, play_batches
from rl.search.account import EvaluationRules
from rl.search.budget import Budget, undisturbed
from rl.search.insights import insights

OLD, NEW = "old", "new"


@dataclass(frozen=True)
class Effort:
    """What one move took: seconds, positions entered, children scored besides; and the deepest depth finished."""

    seconds: float
    nodes: int
    scored: int
    depth: int


def think(board: Board, rules: EvaluationRules, seconds: float, depth: int) -> Effort:
    """Look for a move as the alpha-beta player does, until the time or the depth is reached."""
    budget, began = Budget(seconds), time.perf_counter()
    scored = reached = 0
    with undisturbed():
        for insight in insights(board, rules, budget, depth):
            scored, reached = insight.scored, insight.depth
    return Effort(time.perf_counter() - began, budget.used, scored, reached)


def efforts(
    rules: EvaluationRules, openings: int, plies: int, seed: int, seconds: float, depth: int
) -> Iterator[Effort]:
    """Yield what a move takes in each of so many random openings of the 15x15 board."""
    for number in range(openings):
        board = random_opening(Board, plies, pairing.generator(seed, pairing.OPENING, number))
        yield think(board, rules, seconds, depth)


def bench_text(done: list[Effort]) -> str:
    """Return the averages as text."""
    seconds, nodes = sum(each.seconds for each in done), sum(each.nodes for each in done)
    scored = sum(each.scored for each in done)
    return "\n".join(
        [
            f"openings               {len(done):>10,}",
            f"ms a move, average     {1000 * seconds / len(done):>10,.1f}",
            f"ms a move, slowest     {1000 * max(each.seconds for each in done):>10,.1f}",
            f"nodes a second         {nodes / seconds:>10,.0f}",
            f"children a second      {scored / seconds:>10,.0f}   (scored without being entered)",
            f"depth, average         {sum(each.depth for each in done) / len(done):>10.1f}",
        ]
    )


class Rival:
    """How a name becomes an agent: `old` and `new` are the alpha-beta player by the one rules and by the other."""

    def __init__(self, old: EvaluationRules, new: EvaluationRules, nodes: int) -> None:
        self._rules = {OLD: old, NEW: new}
        self._settings = Settings(seconds=float("inf"), nodes=nodes)

    def __call__(self, name: str) -> Agent:
        """The agent."""
        return AlphaBetaAgent(self._settings, partial(self._rules.__getitem__, name), name)


def play_match(rival: Rival, games: int, plies: int, seed: int) -> Iterator[ArenaResult]:
    """Play colour-swapped pairs, new against old, on the 15x15 board; yield the result so far after each pair.

    The result is from the new rules' point of view.
    """
    setting = Setting(15, 15, 5, Rule.FREESTYLE, rival)
    players = (NEW, OLD)
    slots = pairing.schedule([rival(name) for name in players], games // 2)
    opening = pairing.opening_by_pair(setting, games // 2, [], plies, seed, balanced=False)
    done: dict[int, Games] = {}
    with pairing.open_fleet(setting, 1) as fleet:
        for number, played in play_batches(fleet, pairing.batches(slots, players, opening, seed), ahead=1):
            done[number] = played
            yield result_of([record for slot in sorted(done) for record in done[slot]])


def verdict(tally: Tally) -> str:
    """Return in words what the games say of the new rules: draws aside, is their share of the wins above a half?"""
    decided = tally.wins + tally.losses
    low, high = wilson_interval(tally.wins, decided)
    share = f"of {decided} games with a winner they won {tally.wins} (95 % interval {low:.1%} to {high:.1%})"
    if low > 0.5:
        return f"the new rules are stronger: {share}"
    if high < 0.5:
        return f"the new rules are weaker: {share}"
    return f"no difference is shown: {share}; more games may tell"
