"""Pairs as work: the same games in one process or several, agents made anew, faults that cost a game and no more."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from env import Board, Rule
from rl.agents import Agent, GreedyAgent, RandomAgent, make_agent
from rl.fleet import InProcess, Processes
from rl.pairs import PAIRS_AT_ONCE, PairBatch, Setting, pairs_at_once, play_batches, play_pairs, prepare, present


class Counting(Agent):
    """Plays its n-th move on the n-th legal cell from where it last was: it remembers, and says when it is let go."""

    open = 0

    def __init__(self, name: str) -> None:
        self.name, self.moves = "another name", 0
        Counting.open += 1

    def choose(self, board: Board, rng: object) -> int:
        self.moves += 3
        legal = np.flatnonzero(board.legal_mask())
        return int(legal[self.moves % len(legal)])

    def close(self) -> None:
        Counting.open -= 1


class Faulty(Agent):
    """Gives up, or kills its process (once a file), at the eighth stone."""

    def __init__(self, name: str) -> None:
        self.name = name

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        if len(board.moves) >= 7:
            if self.name == "gives up":
                raise RuntimeError("enough")
            mark = Path(self.name)
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return int(rng.choice(np.flatnonzero(board.legal_mask())))


def make(name: str) -> Agent:
    if name.startswith("counting"):
        return Counting(name)
    return make_agent(name) if name in ("greedy", "random") else Faulty(name)


SETTING = Setting(6, 6, 4, Rule.FREESTYLE, make)


def batch(players: tuple[str, str], number: int, pairs: int = 2) -> PairBatch:
    openings = tuple((6 + number, 20 + i) for i in range(pairs))
    return PairBatch(players, openings, np.random.default_rng([3, number]))


def games_of(jobs: int, players: tuple[str, str], setting: Setting = SETTING) -> list[tuple]:
    with Processes(prepare, jobs) if jobs else InProcess(prepare) as fleet:
        fleet.put(setting)
        work = ((number, batch(players, number)) for number in range(5))
        return sorted(play_batches(fleet, work, ahead=3), key=lambda done: done[0])


@pytest.mark.parametrize("players", [("greedy", "random"), ("counting", "greedy")])
def test_the_same_games_in_one_process_or_several(players: tuple[str, str]) -> None:
    here, there = games_of(0, players), games_of(2, players)
    assert here == there and [number for number, _ in here] == list(range(5))
    assert len({record.moves for _, games in here for record in games}) > 10


def test_a_worker_killed_in_a_game_costs_nothing(tmp_path: Path) -> None:
    players = (str(tmp_path / "killed"), "random")
    played = games_of(2, players)
    assert Path(players[0]).exists()
    assert played == games_of(0, players)


def test_pairs_stand_side_by_side_under_the_names_asked_for() -> None:
    records = play_pairs(SETTING, batch(("greedy", "counting one"), 0, pairs=3))
    assert [(record.black, record.white) for record in records] == [
        ("greedy", "counting one"), ("counting one", "greedy"),
    ] * 3  # fmt: skip
    assert [record.moves[:2] for record in records] == [(6, 20)] * 2 + [(6, 21)] * 2 + [(6, 22)] * 2
    assert {record.opening for record in records} == {2}
    for record in records:
        outcome = record.replay().outcome
        assert outcome is not None and outcome.winner == record.winner


def test_agents_are_made_anew_for_each_batch_and_let_go_of() -> None:
    played = [play_pairs(SETTING, batch(("counting", "random"), 0)) for _ in range(2)]
    assert played[0] == played[1] and Counting.open == 0
    with pytest.raises(ValueError, match="there is no agent"), present(["counting", "gredy"], make_agent_or_counting):
        pass
    assert Counting.open == 0


def make_agent_or_counting(name: str) -> Agent:
    return Counting(name) if name == "counting" else make_agent(name)


def test_a_fault_costs_the_game_and_the_record_says_why() -> None:
    records = play_pairs(SETTING, batch(("gives up", "greedy"), 1))
    lost = [record for record in records if record.note]
    assert lost and all(record.note == "gives up forfeits: RuntimeError: enough" for record in lost)
    assert all((record.black if record.winner == -1 else record.white) == "gives up" for record in lost)


def test_batches_are_as_large_as_the_agents_like() -> None:
    assert pairs_at_once([GreedyAgent(), RandomAgent()]) == PAIRS_AT_ONCE
    assert pairs_at_once([GreedyAgent(), Counting("")]) == 1
    Counting.open -= 1
